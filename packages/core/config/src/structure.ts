/**
 * Finds every key that doesn't belong, at every depth. valibot would tell only the first of each table, and silently
 * drops some names from records.
 */
import { absentFeature, badKey, badValue, type Finding, unknownKey } from "./finding.ts";
import type { SchemaNode } from "./schema-node.ts";
import { namesIn, type SectionTable } from "./sections.ts";
import { isTable, type Path, type Table } from "./table.ts";

/** Names that valibot leaves out of a record without a word. */
const DROPPED = new Set(["__proto__", "prototype", "constructor"]);

export function checkStructure(table: Table, tables: SectionTable, path: Path = []): Finding[] {
  return Object.entries(table).flatMap(([name, value]) => {
    const here = [...path, name];
    const child = tables.children.get(name);
    if (child) return checkChild(value, child, here);
    const node = tables.section?.entries.get(name);
    if (node) return checkKeys(value, node, here);
    const item = tables.section?.item;
    if (item) return checkNamed(value, item, here);
    const meant = tables.aliases.get(name);
    if (meant !== undefined) return [badKey(here, `this section is called [${meant}]`)];
    return [unknownKey(here, namesIn(tables), tables.absent)];
  });
}

function checkChild(value: unknown, child: SectionTable, path: Path): Finding[] {
  if (!child.section && child.absent.length > 0) return [absentFeature(path, child.absent)];
  if (!isTable(value)) return [badValue(path, "must be a table")];
  return checkStructure(value, child, path);
}

/** What is no table where one belongs is left to the schema. */
function checkKeys(value: unknown, node: SchemaNode, path: Path): Finding[] {
  if (Array.isArray(value)) {
    const { item } = node;
    return item ? value.flatMap((inner, index) => checkKeys(inner, item, [...path, index])) : [];
  }
  if (!isTable(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const here = [...path, name];
    if (node.type === "record") return node.item ? checkNamed(inner, node.item, here) : [];
    const known = node.entries?.get(name);
    if (known) return checkKeys(inner, known, here);
    if (!node.entries || node.open) return [];
    return [unknownKey(here, [...node.entries.keys()])];
  });
}

/** An entry of a record. */
const checkNamed = (value: unknown, item: SchemaNode, path: Path): Finding[] =>
  DROPPED.has(String(path.at(-1))) ? [badKey(path, "this name can't be used")] : checkKeys(value, item, path);
