/** The tests of a source file by their titles, as its text has them: `%s` of test.each, and `${…}`, stand as they are written. */
import type { Node } from "oxc-parser";
import { type Source, walk } from "@svc/source";

/** Titles from the outermost `describe` to the test itself. */
export type TestTitles = readonly string[];

const GROUPS = new Set(["describe", "suite"]);
const TESTS = new Set(["test", "it"]);

export function testTitles(source: Source): TestTitles[] {
  const found: TestTitles[] = [];
  walk(source.program, (node, parents) => {
    const title = titleOf(node, TESTS, source);
    if (title === undefined) return;
    const groups = parents.map((parent) => titleOf(parent, GROUPS, source)).filter((group) => group !== undefined);
    found.push([...groups, title]);
  });
  return found;
}

/** Of `test("title", …)`, `test.each(rows)("title", …)`, `test.for(rows)(…)`; undefined: this node is no such call. */
function titleOf(node: Node, names: ReadonlySet<string>, { text }: Source): string | undefined {
  if (node.type !== "CallExpression" || !names.has(rootName(node.callee) ?? "")) return undefined;
  const [title] = node.arguments;
  if (title?.type === "Literal" && typeof title.value === "string") return title.value;
  return title?.type === "TemplateLiteral" ? text.slice(title.start + 1, title.end - 1) : undefined;
}

function rootName(node: Node): string | undefined {
  let at: Node = node;
  for (;;) {
    if (at.type === "MemberExpression") at = at.object;
    else if (at.type === "CallExpression") at = at.callee;
    else if (at.type === "TaggedTemplateExpression") at = at.tag;
    else return at.type === "Identifier" ? at.name : undefined;
  }
}
