/** Whether what a function gives, or an instance of a class, remembers anything from one call to the next. */
import type { Node } from "oxc-parser";
import { walk } from "../source.ts";
import { bare, type Change, nameOf } from "./changes.ts";
import type { Code, Modules } from "./modules.ts";
import { isFunction } from "./scopes.ts";

export function keepsState(code: Code, modules: Modules, seen: ReadonlySet<Node> = new Set()): boolean {
  if (seen.has(code.node)) return false;
  const known = new Set(seen).add(code.node);
  return code.node.type.startsWith("Class") ? classKeeps(code) : functionKeeps(code, modules, known);
}

/** A method other than the constructor changes what `this` has. */
const classKeeps = ({ facts, node }: Code): boolean =>
  facts.changes.some(
    ({ name, parents }) =>
      name === "this" &&
      parents.includes(node) &&
      !parents.some((parent) => parent.type === "MethodDefinition" && parent.kind === "constructor"),
  );

/** Something that is made in one call of it is changed by a function that is made there too, and so may be called later. */
function functionKeeps(code: Code, modules: Modules, seen: ReadonlySet<Node>): boolean {
  const { facts, node } = code;
  if ("generator" in node && node.generator === true) return true;
  const later = [...facts.changes, ...facts.reassignments].some(
    (change) => isOwn(change, node) || isThis(change, node),
  );
  return later || madeIn(code, modules, seen);
}

function isOwn({ binding, parents }: Change, maker: Node): boolean {
  if (!binding || binding.isModule || binding.kind === "import" || laterIn(parents, maker) === undefined) return false;
  return binding.node === maker ? binding.kind === "parameter" : isMadeIn(binding.node, maker);
}

/** Declared in the function itself, not in one inside of it. */
function isMadeIn(declared: Node, maker: Node): boolean {
  let isIn = false;
  walk(maker, (node, parents) => {
    if (node === declared) isIn = parents.filter(isFunction).length <= 1;
  });
  return isIn;
}

/** `{ n: 0, next() { return this.n++; } }` */
const isThis = ({ name, parents }: Change, maker: Node): boolean =>
  name === "this" && laterIn(parents, maker) !== undefined && !parents.some(({ type }) => type.startsWith("Class"));

/** The function inside of `maker` that this happens in, and which may be called when `maker` has long returned. */
function laterIn(parents: readonly Node[], maker: Node): Node | undefined {
  if (!parents.includes(maker)) return undefined;
  const inside = parents.slice(parents.indexOf(maker) + 1);
  return inside.find((node, index) => isFunction(node) && !isCalledAtOnce(node, inside[index - 1]));
}

/** Array methods and the like call what they are handed before they return. */
function isCalledAtOnce(callback: Node, call: Node | undefined): boolean {
  if (call?.type !== "CallExpression" || !(call.arguments as Node[]).includes(callback)) return false;
  return AT_ONCE.has(nameOf(bare(call.callee)) ?? "");
}

const AT_ONCE = new Set(
  "every filter find findIndex flatMap forEach from map reduce replace replaceAll some sort toSorted".split(" "),
);

/** A function or class that it uses keeps state. */
function madeIn({ facts, node }: Code, modules: Modules, seen: ReadonlySet<Node>): boolean {
  let keeps = false;
  walk(node, (inner, parents) => {
    if (inner.type !== "CallExpression" && inner.type !== "NewExpression") return;
    if ([...parents].findLast(isFunction) !== node) return;
    const code = modules.codeOf(inner.callee, [facts.source.program, ...parents], facts);
    keeps ||= code !== undefined && keepsState(code, modules, seen);
  });
  return keeps;
}
