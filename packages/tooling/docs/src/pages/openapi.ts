/** docs/reference/openapi.md: /openapi.json for people. */
import { markdownTable } from "../markdown.ts";
import { type Answer, type OpenApi, type Operation, routesOf } from "./document.ts";
import { cell, codeCell, type GeneratedPage, madeFrom, prose } from "./page.ts";
import { noteOf, SHAPE, shapeOf } from "./shape.ts";

export const openApiPage = (document: OpenApi): GeneratedPage => ({
  path: "docs/reference/openapi.md",
  render: () =>
    [
      `# API document

${madeFrom("the routes of the gateway")}

Every route with what it takes and answers. For programs: a running service has this as OpenAPI 3.1 at \`/openapi.json\`, with the
routes of its features.
`,
      ...routesOf(document).map(({ name, operation }) => route(name, operation)),
    ].join("\n"),
});

function route(name: string, { summary, description, parameters = [], requestBody, responses }: Operation): string {
  const answers = Object.entries(responses).filter(([status]) => status !== "default");
  return [
    `## \`${name}\``,
    "",
    prose(`${summary} ${description}`.trim()),
    "",
    ...(parameters.length === 0 ? [] : [parameterTable(parameters), ""]),
    ...Object.entries(requestBody?.content ?? {}).flatMap(([type, { schema }]) => [
      `Body (\`${type}\`${requestBody?.required ? "" : ", may be left out"}):`,
      "",
      ...shape(shapeOf(schema)),
    ]),
    ...answers.filter(([status]) => Number(status) < 400).flatMap(([status, one]) => answer(status, one)),
    ...errorTable(answers.filter(([status]) => Number(status) >= 400)),
  ].join("\n");
}

const parameterTable = (parameters: NonNullable<Operation["parameters"]>): string =>
  markdownTable(
    ["Parameter", "In", "Takes", "Meaning"],
    parameters.map(({ name, in: place, required, description, schema }) => {
      const { description: _same, ...bounds } = schema;
      return [
        `${codeCell(name)}${required ? "" : " (optional)"}`,
        place,
        [codeCell(shapeOf(schema)), cell(noteOf(bounds))].join(" ").trim(),
        cell(description ?? ""),
      ];
    }),
  );

function answer(status: string, { description, headers = {}, content = {} }: Answer): string[] {
  const names = Object.keys(headers).map((name) => `\`${name}\``);
  return [
    `**${status}**: ${prose(description)}${names.length === 0 ? "" : ` Headers: ${names.join(", ")}.`}`,
    "",
    ...Object.entries(content).flatMap(([type, { schema }]) =>
      type === "application/json" ? shape(shapeOf(schema)) : [`The body is \`${type}\`.`, ""],
    ),
  ];
}

function errorTable(answers: readonly (readonly [string, Answer])[]): string[] {
  if (answers.length === 0) return [];
  return [
    markdownTable(
      ["Error", "Codes"],
      answers.map(([status, one]) => [status, codes(one)]),
    ),
    "",
  ];
}

/** The page of errors says what they mean. */
function codes({ description, content = {} }: Answer): string {
  const named = Object.values(content).flatMap(({ schema }) => schema.properties?.["code"]?.enum ?? []);
  return named.length === 0 ? cell(description) : named.map((code) => codeCell(String(code))).join(", ");
}

const shape = (text: string): string[] => [`\`\`\`${SHAPE}`, text, "```", ""];
