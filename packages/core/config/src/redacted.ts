/** A section as it may be shown: defaults filled in, every secret as dots. */
import type { Json } from "@svc/contract";
import type { SchemaNode } from "./schema-node.ts";
import { isTable, type Table } from "./table.ts";

/** Stands for a secret. Of one length, so that it doesn't tell the secret's. */
export const MASK = "••••••••";

/** What may stand in a table: keys of its own, and under any other name an `item`. */
type Keys = Pick<SchemaNode, "entries" | "item">;

/** `table` with the defaults of its keys, in the order of declaration; absent keys without a default are left out. */
export function withDefaults(keys: Keys, table: Table): Record<string, Json> {
  return shownEntries(keys, table, false);
}

/** The same with secrets as dots. */
export function redactedTable(keys: Keys, table: Table): Record<string, Json> {
  return shownEntries(keys, table, true);
}

const NONE: ReadonlyMap<string, SchemaNode> = new Map();

function shownEntries({ entries = NONE, item }: Keys, table: Table, redact: boolean): Record<string, Json> {
  const pairs: [string, Json][] = [];
  for (const [name, node] of entries) {
    const value = Object.hasOwn(table, name) ? table[name] : node.default;
    if (value !== undefined) pairs.push([name, shown(node, value, redact)]);
  }
  for (const [name, value] of Object.entries(table)) {
    if (!entries.has(name) && value !== undefined) pairs.push([name, shown(item, value, redact)]);
  }
  // Defines the keys, where an assignment of `__proto__` would not.
  return Object.fromEntries(pairs);
}

function shown(node: SchemaNode | undefined, value: unknown, redact: boolean): Json {
  if (redact && node?.marks.secret) return MASK;
  if (Array.isArray(value)) return value.map((item) => shown(node?.item, item, redact));
  if (isTable(value)) return shownEntries(node ?? {}, value, redact);
  return typeof value === "string" || typeof value === "boolean" || Number.isFinite(value)
    ? (value as Json)
    : String(value);
}
