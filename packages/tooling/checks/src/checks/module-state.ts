/**
 * No state at module level in what the binary holds: it would be shared by all clients, survive a reload and leak from
 * one test into the next (the specification's shared-state rule 1). State lives in what `create` returns, or in a
 * SharedHandle given at construction.
 */
import type { Declaration, Node, Program, VariableDeclarator } from "oxc-parser";
import type { Check, Finding } from "../check.ts";
import { isTest, type Source, walk } from "../source.ts";

export const moduleState: Check = {
  id: "module-state",
  rule: "A feature, a core package or the app keeps no changing state at module level.",
  find: (workspace) =>
    workspace
      .sources((file) => /^(?:packages\/(?:features|core)|apps)\/[^/]+\/src\//.test(file) && !isTest(file))
      .flatMap((source) => topLevel(source).concat(staticFields(source))),
};

const FIX = "Keep it in what create() returns, or take a SharedHandle at construction.";

function topLevel(source: Source): Finding[] {
  const changed = changedNames(source.program);
  return source.program.body.flatMap((statement) => {
    const exported = statement.type === "ExportNamedDeclaration";
    const declaration = exported ? statement.declaration : (statement as Declaration);
    if (declaration?.type !== "VariableDeclaration" || declaration.declare === true) return [];
    return declaration.declarations.flatMap((one) => {
      const name = one.id.type === "Identifier" ? one.id.name : "";
      if (!exported && isCore(source.file) && isSideTable(one)) return [];
      const message = judge(declaration.kind, one, changed.has(name), exported);
      return message === undefined
        ? []
        : [{ file: source.file, line: source.lineOf(one.start), message: `${name || "A name"} ${message}`, fix: FIX }];
    });
  });
}

const isCore = (file: string): boolean => file.startsWith("packages/core/");

/**
 * `const known = new WeakMap()`: what is known about an object and dies with it, as if it were a field of that object.
 * Core may; a feature may not (its rule knows one way only).
 */
const isSideTable = ({ init }: VariableDeclarator): boolean =>
  init?.type === "NewExpression" && init.callee.type === "Identifier" && /^Weak(?:Map|Set)$/.test(init.callee.name);

function judge(kind: string, one: VariableDeclarator, changed: boolean, exported: boolean): string | undefined {
  if (kind === "let" || kind === "var") return `is a module-level ${kind}.`;
  if (changed) return "is a module-level value that this file changes.";
  const init = one.init;
  if (init?.type !== "NewExpression" || init.callee.type !== "Identifier") return undefined;
  if (init.callee.name === "SharedHandle") return "is a SharedHandle made at module level.";
  return isEmptyCollection(init) && exported
    ? "is an empty collection at module level, exported for others to fill."
    : undefined;
}

function staticFields(source: Source): Finding[] {
  const found: Finding[] = [];
  walk(source.program, (node) => {
    if (node.type !== "PropertyDefinition" || !node.static || node.declare === true) return;
    const constant = node.readonly === true && !isEmptyCollection(node.value);
    if (constant) return;
    const line = source.lineOf(node.start);
    found.push({ file: source.file, line, message: "A static field that can change is module-level state.", fix: FIX });
  });
  return found;
}

/** `new Map()`: nobody makes an empty one but to fill it. */
const isEmptyCollection = (init: Node | null): boolean =>
  init?.type === "NewExpression" &&
  init.callee.type === "Identifier" &&
  /^(?:Weak)?(?:Map|Set)$/.test(init.callee.name) &&
  init.arguments.length === 0;

const MUTATORS = new Set(
  "add append clear copyWithin delete fill pop push reverse set shift sort splice unshift".split(" "),
);

/** Names that something in the file assigns into, deletes from, or calls a changing method on. */
function changedNames(program: Program): ReadonlySet<string> {
  const names = new Set<string>();
  const add = (node: Node | null | undefined): void => {
    const root = rootOf(node);
    if (root !== undefined) names.add(root);
  };
  walk(program, (node) => {
    if (node.type === "AssignmentExpression" && node.left.type === "MemberExpression") add(node.left.object);
    if (node.type === "UpdateExpression" && node.argument.type === "MemberExpression") add(node.argument.object);
    if (node.type === "UnaryExpression" && node.operator === "delete") add(node.argument);
    if (node.type !== "CallExpression" || node.callee.type !== "MemberExpression") return;
    const { object, property } = node.callee;
    if (property.type === "Identifier" && MUTATORS.has(property.name)) add(object);
    // Object.assign(known, …), Object.defineProperty(known, …)
    if (object.type === "Identifier" && object.name === "Object" && property.type === "Identifier") {
      if (/^(?:assign|define)/.test(property.name)) add(node.arguments[0]);
    }
  });
  for (const name of innerNames(program)) names.delete(name);
  return names;
}

/** `a` of `a`, `a.b`, `a.b[0]`; nothing for a call's result. */
function rootOf(node: Node | null | undefined): string | undefined {
  let at = node;
  while (at?.type === "MemberExpression") at = at.object;
  return at?.type === "Identifier" ? at.name : undefined;
}

/** Names also bound inside a function: what changes may be the inner one. Rather miss one than cry wolf. */
function innerNames(program: Program): ReadonlySet<string> {
  const names = new Set<string>();
  walk(program, (node, parents) => {
    if (node.type === "VariableDeclarator" && parents.some(({ type }) => /Function|Block|For/.test(type))) {
      collect(node.id, names);
    }
    if (/Function/.test(node.type) && "params" in node && Array.isArray(node.params)) {
      for (const param of node.params as Node[]) collect(param, names);
    }
  });
  return names;
}

function collect(pattern: Node, names: Set<string>): void {
  walk(pattern, (node) => {
    if (node.type === "Identifier") names.add(node.name);
  });
}
