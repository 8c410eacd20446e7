/** docs/reference/errors.md, made of the error table, so that the page a person is sent to can't be out of date. */
import type { Check } from "../check.ts";
import { markdownTable } from "../markdown.ts";

export const ERROR_PAGE = "docs/reference/errors.md";

interface Entry {
  readonly status: number;
  readonly exit: number;
  readonly sentence: string;
}

export const errorPage = (errors: Readonly<Record<string, Entry>>): Check => ({
  id: "error-page",
  rule: `${ERROR_PAGE} is what the error table says.`,
  find(workspace) {
    const expected = renderErrorPage(errors).split("\n");
    const actual = workspace.files.get(ERROR_PAGE)?.split("\n");
    const fix = "Run: npm run checks -- --write";
    if (!actual) return [{ file: ERROR_PAGE, message: "The page is missing.", fix }];
    const line = expected.findIndex((text, index) => text !== actual[index]);
    if (line < 0 && actual.length === expected.length) return [];
    return [
      { file: ERROR_PAGE, line: line < 0 ? expected.length : line + 1, message: "The page is out of date.", fix },
    ];
  },
});

export function renderErrorPage(errors: Readonly<Record<string, Entry>>): string {
  const rows = Object.entries(errors).map(([code, { status, exit, sentence }]) => [
    `\`${code}\``,
    String(status),
    String(exit),
    sentence.replaceAll("|", "\\|"),
  ]);
  return `# Errors

<!-- Made by \`npm run checks -- --write\` from packages/core/contract/src/error-codes.ts. -->

Every error has a stable code. Over HTTP it is answered as \`{"error": "<sentence>", "code": "<CODE>"}\` with the status below;
429 adds \`retry_after\` (whole seconds) and the \`Retry-After\` header. A command that ends with it exits with the code below
(\`sysexits.h\`). The sentence may be a more exact one; it never quotes a received value or a secret.

${markdownTable(["Code", "Status", "Exit", "Meaning"], rows)}
`;
}
