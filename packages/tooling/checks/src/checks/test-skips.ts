/** A skip without a reason silences a test for ever. (oxlint refuses focused tests.) */
import type { Node } from "oxc-parser";
import type { Check, Finding } from "../check.ts";
import { type Source, walk } from "@svc/source";

export const testSkips: Check = {
  id: "test-skips",
  rule: "A skipped test says why.",
  find: (workspace) => workspace.sources((file) => file.endsWith(".test.ts")).flatMap(judge),
};

const RUNNERS = new Set(["test", "it", "describe", "suite", "bench"]);

function judge(source: Source): Finding[] {
  const found: Finding[] = [];
  const { file, lineOf } = source;
  walk(source.program, (node, parents) => {
    if (node.type !== "MemberExpression" || node.property.type !== "Identifier") return;
    const line = lineOf(node.start);
    const { name } = node.property;
    const runner = RUNNERS.has(rootName(node) ?? "");
    if (runner && /^(?:skip|skipIf|runIf|todo|fails)$/.test(name) && !hasReason(source, parents)) {
      const fix = "Use context.skip(condition, reason) inside, or { meta: { skipReason } }: the summary shows it.";
      found.push({ file, line, message: `.${name} without a reason.`, fix });
    } else if (!runner && name === "skip" && !saysWhy(node, parents.at(-1))) {
      const fix = "Give the reason as the last argument: it is shown in the summary.";
      found.push({ file, line, message: "skip() without a reason.", fix });
    }
  });
  return found;
}

/** The reporter of `npm test` reads `meta.skipReason` where a test never comes to run. */
function hasReason({ text }: Source, parents: readonly Node[]): boolean {
  const statement = parents.findLast(({ type }) => type === "ExpressionStatement");
  return statement !== undefined && /\bskipReason\b/.test(text.slice(statement.start, statement.end));
}

/** `context.skip("reason")`, `context.skip(condition, "reason")`; other things named skip are not calls of a context. */
function saysWhy(node: Node, parent: Node | undefined): boolean {
  if (node.type !== "MemberExpression" || parent?.type !== "CallExpression" || parent.callee !== node) return true;
  if (node.object.type !== "Identifier" || !/^(?:context|ctx|t|task)$/.test(node.object.name)) return true;
  const reason = parent.arguments.at(-1);
  // Anything but a constant may be a text; a lone condition is not told from one, a constant is.
  return (
    reason !== undefined && (reason.type !== "Literal" || (typeof reason.value === "string" && reason.value !== ""))
  );
}

function rootName(node: Node): string | undefined {
  let at: Node = node;
  while (at.type === "MemberExpression" || at.type === "CallExpression")
    at = at.type === "CallExpression" ? at.callee : at.object;
  return at.type === "Identifier" ? at.name : undefined;
}
