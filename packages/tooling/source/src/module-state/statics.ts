/** What a class has once for all of its instances. */
import type { AccessorProperty, Node, PropertyDefinition } from "oxc-parser";
import { walk } from "../source.ts";
import type { Facts, State } from "./facts.ts";
import { problemsOf } from "./initial.ts";
import type { Modules } from "./modules.ts";
import { regexProblems } from "./regexes.ts";

export function staticProblems(facts: Facts, modules: Modules, isStrict: boolean): State[] {
  const found: State[] = [];
  const message = "A static field that can change is module-level state.";
  walk(facts.source.program, (node) => {
    const field = fieldOf(node);
    if (!field) return;
    const isConstant = field.type === "PropertyDefinition" && field.readonly === true;
    const initial = field.value && { value: field.value, isExported: true, isStrict };
    const canChange = !isConstant || (initial && problemsOf(initial, facts, modules).length > 0);
    if (canChange || (initial && regexProblems(initial, facts).length > 0)) found.push({ name: "", node, message });
  });
  return found;
}

type Field = PropertyDefinition | AccessorProperty;

function fieldOf(node: Node): Field | undefined {
  const isField = node.type === "PropertyDefinition" || node.type === "AccessorProperty";
  return isField && node.static && node.declare !== true ? node : undefined;
}
