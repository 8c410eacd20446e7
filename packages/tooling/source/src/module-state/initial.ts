/** What a module begins with: values that only make sense if they change, or that remember by themselves. */
import type { Node, VariableDeclarator } from "oxc-parser";
import { walk } from "../source.ts";
import { bare, nameOf } from "./changes.ts";
import type { Facts } from "./facts.ts";
import { keepsState } from "./keeps.ts";
import type { Modules } from "./modules.ts";
import { isFunction } from "./scopes.ts";

export interface Initial {
  readonly value: Node;
  /** Undefined: of `export default`. */
  readonly declarator?: VariableDeclarator;
  readonly isExported: boolean;
  /** For a feature, with the stricter rule. */
  readonly isStrict: boolean;
}

export interface Problem {
  readonly node: Node;
  /** The end of a sentence. */
  readonly message: string;
}

/** Instances that can't change, or change only for their own caller: an error, the store of an asynchronous context. */
const LASTING = /^(?:Map|Set|RegExp|URL|TextEncoder|TextDecoder|AsyncLocalStorage|\w*Error)$|^Intl\./;
/** Names of functions that cache, from any library. */
const REMEMBERS = /^(?:once|memo(?:i[sz]e)?(?:d|One)?|cached?|lazy|debounce|throttle|singleton|withResolvers)$/i;

export function problemsOf(initial: Initial, facts: Facts, modules: Modules): Problem[] {
  const found: Problem[] = [];
  walk(initial.value, (node, parents) => {
    if (parents.some((parent) => isFunction(parent) || parent.type === "ClassBody")) return;
    const message = problemOf(node, parents, initial, facts, modules);
    if (message !== undefined) found.push({ node, message });
  });
  return found;
}

function problemOf(
  node: Node,
  parents: readonly Node[],
  initial: Initial,
  facts: Facts,
  modules: Modules,
): string | undefined {
  const { program, text } = facts.source;
  const isDirect = node === bare(initial.value);
  if (node.type === "NewExpression") {
    const name = text.slice(node.callee.start, node.callee.end).replace(/^globalThis\./, "");
    if (name === "SharedHandle") return "is a SharedHandle made at module level.";
    if (/^(?:Weak)?(?:Map|Set)$/.test(name))
      return problemOfTable(name, node.arguments.length === 0, isDirect, initial);
    if (LASTING.test(name)) return undefined;
    const code = modules.codeOf(node.callee, [program, ...parents], facts);
    return code && !keepsState(code, modules) ? undefined : `is an instance of ${name} at module level.`;
  }
  if (node.type === "CallExpression") {
    const callee = bare(node.callee);
    const name = callee.type === "Identifier" ? callee.name : (nameOf(callee) ?? "");
    if (REMEMBERS.test(name)) return `is made by ${name}(), which remembers.`;
    const code = modules.codeOf(callee, [program, ...parents], facts);
    if (code && keepsState(code, modules)) return "is made by a function that keeps changing state.";
    const isBlank = name === "create" && node.arguments.length === 1 && isDirect;
    return isBlank && isOpen(initial) ? "is empty at module level, exported for others to fill." : undefined;
  }
  return isDirect && isEmpty(node) && isOpen(initial)
    ? "is empty at module level, exported for others to fill."
    : undefined;
}

/** Code makes an empty table only to fill it. */
function problemOfTable(name: string, isNew: boolean, isDirect: boolean, initial: Initial): string | undefined {
  if (name.startsWith("Weak")) return isSideTable(initial) ? undefined : "is a table at module level.";
  if (!isNew || isReadonly(initial)) return undefined;
  if (initial.isExported && isDirect) return "is an empty collection at module level, exported for others to fill.";
  return initial.isStrict ? "is an empty collection at module level." : undefined;
}

/** What core knows about an object and dies with it, as if it were a field of that object. */
export function isSideTable({ value, isExported, isStrict }: Initial): boolean {
  const { callee } = value.type === "NewExpression" ? value : {};
  return !isStrict && !isExported && callee?.type === "Identifier" && /^Weak(?:Map|Set)$/.test(callee.name);
}

const isOpen = (initial: Initial): boolean => initial.isExported && !isReadonly(initial);

/** By its type, so that filling it would not compile. */
function isReadonly({ declarator, value }: Initial): boolean {
  const type = declarator?.id.typeAnnotation?.typeAnnotation;
  if (type?.type === "TSTypeOperator") return type.operator === "readonly";
  if (type?.type === "TSTypeReference")
    return type.typeName.type === "Identifier" && type.typeName.name.startsWith("Readonly");
  return value.type === "TSAsExpression" && value.typeAnnotation.type === "TSTypeReference";
}

const isEmpty = (node: Node): boolean =>
  (node.type === "ObjectExpression" && node.properties.length === 0) ||
  (node.type === "ArrayExpression" && node.elements.length === 0);
