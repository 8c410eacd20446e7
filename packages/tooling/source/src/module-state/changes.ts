/** Where a file changes something that it has not just made: assigns into it, deletes from it, calls what changes it. */
import type { Node, Program } from "oxc-parser";
import { walk } from "../source.ts";
import { type Binding, namesIn, type Scopes } from "./scopes.ts";

export interface Change extends Root {
  readonly node: Node;
  readonly parents: readonly Node[];
}

/** The changed value, or its holder. */
export interface Root {
  /** As it is written there; `this` is one. */
  readonly name: string;
  /** Undefined: of `this`, and of a global. */
  readonly binding: Binding | undefined;
}

const CHANGES = new Set(
  (
    "add append clear copyWithin delete fill getOrInsert getOrInsertComputed pop push reverse set setFromBase64 setFromHex shift " +
    "sort splice unshift"
  ).split(" "),
);
/** Of Object and Reflect; the first argument is what they change. */
const CHANGES_FIRST = /^(?:assign|define|delete|set)/;
/** What they give is the very thing that is kept. */
const HANDS_OUT = new Set("at find findLast get getOrInsert getOrInsertComputed values".split(" "));

export function changesOf(program: Program, scopes: Scopes): Change[] {
  const found: Change[] = [];
  walk(program, (node, parents) => {
    const at = { node, parents: [...parents] };
    for (const target of changedBy(node)) {
      for (const root of rootsOf(target, [...parents, node], scopes)) found.push({ ...root, ...at });
    }
  });
  return found;
}

/** Where a name is given another value. */
export function reassignmentsOf(program: Program, scopes: Scopes): Change[] {
  const found: Change[] = [];
  walk(program, (node, parents) => {
    const [target] =
      node.type === "AssignmentExpression" ? [node.left] : node.type === "UpdateExpression" ? [node.argument] : [];
    for (const name of target ? namesIn(bare(target)) : []) {
      found.push({ name, binding: scopes.find(name, parents), node, parents: [...parents] });
    }
  });
  return found;
}

/** Expressions whose value is changed. */
function changedBy(node: Node): Node[] {
  switch (node.type) {
    case "AssignmentExpression":
      return membersIn(node.left);
    case "UpdateExpression":
      return membersIn(node.argument);
    case "ForOfStatement":
    case "ForInStatement":
      return membersIn(node.left);
    case "UnaryExpression":
      return node.operator === "delete" ? membersIn(node.argument) : [];
    case "CallExpression":
      return changedByCall(node.callee, node.arguments);
    default:
      return [];
  }
}

function changedByCall(called: Node, given: readonly Node[]): Node[] {
  const callee = bare(called);
  if (callee.type !== "MemberExpression") return [];
  const [object, name] = [bare(callee.object), nameOf(callee)];
  const first = given.slice(0, 1);
  if (object.type === "Identifier" && (object.name === "Object" || object.name === "Reflect")) {
    return name !== undefined && CHANGES_FIRST.test(name) ? first : [];
  }
  if (object.type === "Identifier" && object.name === "Atomics") return first;
  // Map.prototype.set.call(known, …)
  const isBorrowed = (name === "call" || name === "apply") && object.type === "MemberExpression";
  if (isBorrowed) return CHANGES.has(nameOf(object) ?? "") ? first : [];
  return name !== undefined && CHANGES.has(name) ? [callee.object] : [];
}

/** `a.b` of `a.b = 1`, `[a.b] = …`, `({ x: a.b } = …)`: the objects that are assigned into. */
function membersIn(target: Node): Node[] {
  const at = bare(target);
  switch (at.type) {
    case "MemberExpression":
      return [at.object];
    case "ArrayPattern":
      return at.elements.flatMap((each) => (each ? membersIn(each) : []));
    case "ObjectPattern":
      return at.properties.flatMap((each) => membersIn(each.type === "RestElement" ? each.argument : each.value));
    case "AssignmentPattern":
      return membersIn(at.left);
    case "RestElement":
      return membersIn(at.argument);
    default:
      return [];
  }
}

/** The holder of an expression's value: `a` of `a`, `a.b[0]`, `a.get(x)!`, `b ?? a`; none for a new value. */
function rootsOf(expression: Node, parents: readonly Node[], scopes: Scopes, depth = 0): Root[] {
  const at = bare(expression);
  const further = (...nodes: Node[]): Root[] => nodes.flatMap((node) => rootsOf(node, parents, scopes, depth));
  switch (at.type) {
    case "Identifier": {
      const binding = scopes.find(at.name, parents);
      // A name of the inside may only be another name for something outside.
      const outside = binding?.from && !binding.isModule && depth < 5;
      const roots = outside ? rootsOf(binding.from, parents, scopes, depth + 1) : [];
      return roots.length > 0 ? roots : [{ name: at.name, binding }];
    }
    case "MemberExpression":
      return further(at.object);
    case "CallExpression": {
      const callee = bare(at.callee);
      if (callee.type !== "MemberExpression" || !HANDS_OUT.has(nameOf(callee) ?? "")) return [];
      return further(callee.object);
    }
    case "AwaitExpression":
      return further(at.argument);
    case "LogicalExpression":
      return further(at.left, at.right);
    case "ConditionalExpression":
      return further(at.consequent, at.alternate);
    case "AssignmentExpression":
      return further(at.left, at.right);
    case "ThisExpression":
      return [{ name: "this", binding: undefined }];
    case "ImportExpression":
      return [{ name: "import()", binding: IMPORTED }];
    default:
      return [];
  }
}

const IMPORTED = {
  name: "import()",
  kind: "import",
  isModule: true,
  node: { type: "ImportExpression" } as Node,
} as const;

/** Without what only a type checker reads, and without brackets and `?.`. */
export function bare(node: Node): Node {
  switch (node.type) {
    case "TSAsExpression":
    case "TSSatisfiesExpression":
    case "TSTypeAssertion":
    case "TSNonNullExpression":
    case "TSInstantiationExpression":
    case "ParenthesizedExpression":
    case "ChainExpression":
      return bare(node.expression);
    default:
      return node;
  }
}

/** `b` of `a.b` and of `a["b"]`. */
export function nameOf(member: Node): string | undefined {
  if (member.type !== "MemberExpression") return undefined;
  const { property } = member;
  if (property.type === "Identifier" && !member.computed) return property.name;
  return property.type === "Literal" ? String(property.value) : undefined;
}
