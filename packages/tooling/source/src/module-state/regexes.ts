/** A regular expression with the flag g or y remembers where it stopped: `test` and `exec` of one at module level go on from there. */
import type { Node } from "oxc-parser";
import { walk } from "../source.ts";
import { bare, nameOf } from "./changes.ts";
import type { Facts } from "./facts.ts";
import type { Initial, Problem } from "./initial.ts";
import { isFunction } from "./scopes.ts";

export function regexProblems({ value, declarator, isExported }: Initial, facts: Facts): Problem[] {
  const found: Problem[] = [];
  walk(value, (node, parents) => {
    const flags = flagsOf(node);
    if (flags === undefined || !/[gy]/.test(flags) || parents.some(isFunction)) return;
    const name = node === bare(value) && declarator?.id.type === "Identifier" ? declarator.id.name : undefined;
    const isSafe = name !== undefined && !isExported && !flags.includes("y") && !goesOn(name, facts);
    if (!isSafe) found.push({ node, message: "is a regular expression that remembers where it stopped." });
  });
  return found;
}

function flagsOf(node: Node): string | undefined {
  if (node.type === "Literal" && "regex" in node) return node.regex.flags;
  if (node.type !== "NewExpression" || node.callee.type !== "Identifier" || node.callee.name !== "RegExp")
    return undefined;
  const [, flags] = node.arguments;
  if (flags === undefined) return "";
  return flags.type === "Literal" ? String(flags.value) : "gy";
}

/** It is used for anything but what begins at the beginning: `replace`, `replaceAll`, `split`, `match`, `matchAll`. */
function goesOn(name: string, { source, scopes }: Facts): boolean {
  let does = false;
  walk(source.program, (node, parents) => {
    if (node.type !== "Identifier" || node.name !== name || !scopes.find(name, parents)?.isModule) return;
    const parent = parents.at(-1);
    if (parent?.type === "VariableDeclarator" && parent.id === node) return;
    if (parent?.type === "MemberExpression" && parent.property === node && !parent.computed) return;
    if (parent?.type === "Property" && parent.key === node && parent.value !== node) return;
    does ||= !isFromTheBeginning(node, parent);
  });
  return does;
}

const isFromTheBeginning = (regex: Node, call: Node | undefined): boolean =>
  call?.type === "CallExpression" &&
  call.arguments[0] === regex &&
  /^(?:replace|replaceAll|split|match|matchAll)$/.test(nameOf(bare(call.callee)) ?? "");
