/** The one list of every key there is. Redaction, environment, JSON Schema, `svc config` and the docs all read it. */
import type { FeatureDefinition } from "@svc/contract";
import { type Section, sectionsOf } from "./sections.ts";
import type { SchemaNode } from "./schema-node.ts";

export interface SchemaKey {
  /** Dotted, e.g. `gateway.port`. `*` stands for the name in a record, `[]` for an item of a list. */
  readonly key: string;
  readonly path: readonly string[];
  readonly section: string;
  /** Who declares it: a feature's id, or `core`. */
  readonly owner: string;
  readonly node: SchemaNode;
}

/** Every key of core and of `features`, parents before children, in the order of declaration. */
export function walkSchema(features: readonly FeatureDefinition[]): SchemaKey[] {
  return [...sectionsOf(features).values()].flatMap(walkSection);
}

export function walkSection(section: Section): SchemaKey[] {
  const keys: SchemaKey[] = [];
  for (const { owner, entries, item } of section.parts) {
    const visit = (path: readonly string[], node: SchemaNode): void => {
      keys.push({ key: path.join("."), path, section: section.name, owner, node });
      for (const [name, child] of node.entries ?? []) visit([...path, name], child);
      const below = node.item;
      if (below?.entries) visitEntries([...path, itemName(node)], below.entries);
      else if (below && (below.item || below.marks.secret)) visit([...path, itemName(node)], below);
    };
    const visitEntries = (path: readonly string[], inner: NonNullable<SchemaNode["entries"]>): void => {
      for (const [name, node] of inner) visit([...path, name], node);
    };
    visitEntries(section.path, entries);
    if (item?.entries) visitEntries([...section.path, "*"], item.entries);
    else if (item) visit([...section.path, "*"], item);
  }
  return keys;
}

const itemName = (node: SchemaNode): string => (node.type === "list" ? "[]" : "*");
