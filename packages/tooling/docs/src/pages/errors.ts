/** docs/reference/errors.md, made of the error table, so that the page a person is sent to can't be out of date. */
import { markdownTable } from "../markdown.ts";
import { cell, type GeneratedPage, madeFrom } from "./page.ts";

interface Entry {
  readonly status: number;
  readonly exit: number;
  readonly sentence: string;
}

export const errorPage = (errors: Readonly<Record<string, Entry>>): GeneratedPage => ({
  path: "docs/reference/errors.md",
  render: () => `# Errors

${madeFrom("packages/core/contract/src/error-codes.ts")}

Every error has a stable code. Over HTTP it is answered as \`{"error": "<sentence>", "code": "<CODE>"}\` with the status below;
429 adds \`retry_after\` (whole seconds) and the \`Retry-After\` header, and so may another error that waiting helps, such as \`BUSY\`.
A command that ends with it exits with the code below (\`sysexits.h\`). The sentence may be a more exact one; it never quotes a received value or a secret.

What to do about the common ones: [Troubleshooting](../guide/troubleshooting.md).

${markdownTable(
  ["Code", "Status", "Exit", "Meaning"],
  Object.entries(errors).map(([code, { status, exit, sentence }]) => [
    `\`${code}\``,
    String(status),
    String(exit),
    cell(sentence),
  ]),
)}
`,
});
