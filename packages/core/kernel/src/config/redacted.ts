/** A section as it may be shown: defaults filled in, every secret as dots. */
import type { Json } from "@svc/contract";
import type { SchemaNode } from "./schema-node.ts";
import { isTable, type Table } from "./table.ts";

/** Stands for a secret. Of one length, so that it doesn't tell the secret's. */
export const MASK = "••••••••";

/** `table` with the defaults of its keys, in the order of declaration; absent keys without a default are left out. */
export function withDefaults(entries: ReadonlyMap<string, SchemaNode>, table: Table): Record<string, Json> {
  return shownEntries(entries, table, false);
}

/** The same with secrets as dots. */
export function redactedTable(entries: ReadonlyMap<string, SchemaNode>, table: Table): Record<string, Json> {
  return shownEntries(entries, table, true);
}

function shownEntries(entries: ReadonlyMap<string, SchemaNode>, table: Table, redact: boolean): Record<string, Json> {
  const pairs: [string, Json][] = [];
  for (const [name, node] of entries) {
    const value = Object.hasOwn(table, name) ? table[name] : node.default;
    if (value !== undefined) pairs.push([name, shown(node, value, redact)]);
  }
  for (const [name, value] of Object.entries(table)) {
    if (!entries.has(name) && value !== undefined) pairs.push([name, shown(undefined, value, redact)]);
  }
  // Defines the keys, where an assignment of `__proto__` would not.
  return Object.fromEntries(pairs);
}

function shown(node: SchemaNode | undefined, value: unknown, redact: boolean): Json {
  if (redact && node?.marks.secret) return MASK;
  if (Array.isArray(value)) return value.map((item) => shown(node?.item, item, redact));
  if (isTable(value)) {
    if (node?.type === "record") {
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shown(node.item, inner, redact)]));
    }
    return shownEntries(node?.entries ?? new Map<string, SchemaNode>(), value, redact);
  }
  return typeof value === "string" || typeof value === "boolean" || Number.isFinite(value)
    ? (value as Json)
    : String(value);
}
