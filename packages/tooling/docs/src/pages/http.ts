/** docs/reference/http.md: all routes, who may call them, and their answers. */
import { markdownTable, slugOf } from "../markdown.ts";
import { type OpenApi, type Operation, routesOf } from "./document.ts";
import { cell, codeCell, type GeneratedPage, madeFrom, prose } from "./page.ts";
import { SHAPE, shapeOf } from "./shape.ts";

export const httpPage = (document: OpenApi): GeneratedPage => ({
  path: "docs/reference/http.md",
  render: () => `# HTTP

${madeFrom("the routes of the gateway")}

What svc serves. Each row leads to the parameters, bodies and answers of its route in the [API document](openapi.md), which a
running service has at \`/openapi.json\` too. The features of a build may add routes below \`/api\`; that document has them.

${markdownTable(
  ["Route", "For", "What it does"],
  routesOf(document).map(({ name, operation }) => [
    `[${codeCell(name)}](openapi.md#${slugOf(name)})`,
    audience(operation),
    cell(operation.summary),
  ]),
)}

## Tokens

A token comes from [pairing](../guide/devices.md) and is sent as \`Authorization: Bearer svc_…\`. Its scope says what it opens:
\`operator\` everything, \`webhook\` sending messages, \`read\` looking.

## Errors

${prose(document.info.description)}

\`\`\`${SHAPE}
${shapeOf(document.components.schemas["Error"] ?? {})}
\`\`\`

The codes are listed under [Errors](errors.md).
`,
});

function audience({ security, description }: Operation): string {
  if (security.length > 0) return /scope ([a-z ,]+)\./.exec(description)?.[1] ?? "a token";
  return /\bOnly for programs on (this machine)\./.exec(description)?.[1] ?? "everybody";
}
