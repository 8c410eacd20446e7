/** Every error code is thrown or answered somewhere; a page full of codes that nothing uses explains nothing. */
import type { Check, Finding } from "../check.ts";
import { lineWith } from "../package-files.ts";
import { isTest, walk } from "@svc/source";
import type { Workspace } from "../workspace.ts";

const TABLE = "packages/core/contract/src/error-codes.ts";

export const errorCodes = (codes: readonly string[]): Check => ({
  id: "error-codes",
  rule: "Every code of the error table is used by the product, and every SvcError has a code of the table.",
  find(workspace) {
    const used = new Set<string>();
    const unknown: Finding[] = [];
    for (const source of workspace.sources(isProduct)) {
      walk(source.program, (node) => {
        if (node.type === "Literal" && typeof node.value === "string") used.add(node.value);
        if (node.type !== "NewExpression" || node.callee.type !== "Identifier" || node.callee.name !== "SvcError")
          return;
        const code = node.arguments[0];
        if (code?.type !== "Literal" || codes.includes(String(code.value))) return;
        unknown.push({
          file: source.file,
          line: source.lineOf(node.start),
          message: "This SvcError has a code that the table does not know.",
          fix: `Use a code of ${TABLE}, or add one there with its sentence.`,
        });
      });
    }
    return [...unknown, ...codes.filter((code) => !used.has(code)).map((code) => idle(code, workspace))];
  },
});

const isProduct = (file: string): boolean =>
  /^(?:apps|packages\/(?:core|features|tooling\/(?:compose|create|bootstrap)))\//.test(file) &&
  !isTest(file) &&
  file !== TABLE;

const idle = (code: string, workspace: Workspace): Finding => ({
  file: TABLE,
  line: lineWith(workspace.files.get(TABLE) ?? "", `  ${code}:`),
  message: `${code} is in the table but nothing uses it.`,
  fix: "Throw it where its sentence is true, or remove it.",
});
