/** Long-lived values that a file changes: of its own module, of another, or of the whole process. */
import type { Node } from "oxc-parser";
import type { Change } from "./changes.ts";
import type { Facts, State } from "./facts.ts";
import { isFunction } from "./scopes.ts";

/** Each once: where it is made, or where it is changed first when it is made elsewhere. */
export function changedThings({ changes, reassignments }: Facts): State[] {
  const found = new Map<unknown, State>();
  for (const [thing, state] of [...changes.map(changedThing), ...reassignments.map(replacedThing)].flatMap(
    (one) => one ?? [],
  )) {
    if (!found.has(thing)) found.set(thing, state);
  }
  return [...found.values()];
}

type Thing = [thing: unknown, state: State][] | undefined;

function changedThing(change: Change): Thing {
  const { name, binding, node } = change;
  if (name === "this" && binding === undefined) {
    const owner = ownerOfThis(change);
    return owner && [[owner, { name: "", node, message: "An object at module level changes itself." }]];
  }
  if (binding === undefined) return [[name, { name, node, message: `${name} is global, and this file changes it.` }]];
  if (binding.kind === "import") {
    return [[binding, { name, node, message: `${name} is of another module, and this file changes it.` }]];
  }
  if (!binding.isModule || /^(?:let|var|using)$/.test(binding.kind)) return undefined;
  const message = `${binding.name} is a module-level value that this file changes.`;
  return [[binding, { name: binding.name, node: binding.node, message }]];
}

function replacedThing({ name, binding, node }: Change): Thing {
  if (binding === undefined) return [[name, { name, node, message: `${name} is global, and this file changes it.` }]];
  const isReplaced = binding.isModule && binding.kind === "function";
  return isReplaced
    ? [[binding, { name, node, message: `${name} is a function that this file replaces.` }]]
    : undefined;
}

/** The object or class that `this` is, where there is one of it for the whole module. */
function ownerOfThis({ parents }: Change): Node | undefined {
  const inner = parents.findLastIndex((node) => isFunction(node) && node.type !== "ArrowFunctionExpression");
  const [holder, owner] = [parents[inner - 1], parents[inner - 2]];
  if (holder?.type === "MethodDefinition") return holder.static ? owner : undefined;
  const isMember = holder?.type === "Property" && owner?.type === "ObjectExpression";
  return isMember && !parents.slice(0, inner).some(isFunction) ? owner : undefined;
}
