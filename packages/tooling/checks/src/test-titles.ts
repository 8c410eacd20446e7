/** The tests of a source file by their titles, as its text has them: `%s` of test.each, and `${…}`, stand as they are written. */
import type { Node } from "oxc-parser";
import { type Source, walk } from "@svc/source";

/** Titles from the outermost `describe` to the test itself. */
export type TestTitles = readonly string[];

/** A conformance suite: its checks run as tests of each package of that kind. */
const SUITE = /^packages\/tooling\/testkit\/src\/conformance\//;

const GROUPS = new Set(["describe", "suite"]);
const TESTS = new Set(["test", "it"]);

export function testTitles(source: Source): TestTitles[] {
  if (SUITE.test(source.file)) return checkTitles(source);
  const found: TestTitles[] = [];
  walk(source.program, (node, parents) => {
    const title = titleOf(node, TESTS, source);
    if (title === undefined) return;
    const groups = parents.map((parent) => titleOf(parent, GROUPS, source)).filter((group) => group !== undefined);
    found.push([...groups, title]);
  });
  return found;
}

/** A check is `{ name: "title", … }`, or made by a function of the file: `attack("title", …)`, `limited("pids", "title", …)`. */
function checkTitles(source: Source): TestTitles[] {
  const found: TestTitles[] = [];
  walk(source.program, (node) => {
    for (const title of node.type === "Property" && isNamed(node.key, "name") ? [node.value] : wordsOf(node)) {
      const text = textOf(title, source);
      if (text !== undefined) found.push([text]);
    }
  });
  return found;
}

const isNamed = (node: Node, name: string): boolean => node.type === "Identifier" && node.name === name;
const wordsOf = (node: Node): readonly Node[] =>
  node.type === "CallExpression" && node.callee.type === "Identifier" ? node.arguments : [];

/** Of `test("title", …)`, `test.each(rows)("title", …)`, `test.for(rows)(…)`; undefined: this node is no such call. */
function titleOf(node: Node, names: ReadonlySet<string>, source: Source): string | undefined {
  if (node.type !== "CallExpression" || !names.has(rootName(node.callee) ?? "")) return undefined;
  const [title] = node.arguments;
  return title && textOf(title, source);
}

function textOf(node: Node, { text }: Source): string | undefined {
  if (node.type === "Literal" && typeof node.value === "string") return node.value;
  return node.type === "TemplateLiteral" ? text.slice(node.start + 1, node.end - 1) : undefined;
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
