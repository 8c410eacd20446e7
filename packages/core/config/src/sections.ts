/** The sections of a build: core's and the features', who owns which key, and what an absent feature would own. */
import type { CatalogueEntry, FeatureDefinition } from "@svc/contract";
import * as v from "valibot";
import { coreSections } from "./core-schema.ts";
import { type SchemaNode, nodeOf } from "./schema-node.ts";

export interface Section {
  /** Dotted, as in the file. */
  readonly name: string;
  readonly path: readonly string[];
  /** Core's sections are always there, with their defaults. */
  readonly core: boolean;
  /** Who declares which keys: the owner first, then whoever extends the section. */
  readonly parts: readonly SectionPart[];
  /** All keys of all parts. */
  readonly entries: ReadonlyMap<string, SchemaNode>;
  /** What stands under every other name, where the section is a record: `[agents.<name>]`. */
  readonly item?: SchemaNode;
}

export interface SectionPart {
  /** A feature's id, or `core`. */
  readonly owner: string;
  readonly schema: v.GenericSchema;
  readonly entries: ReadonlyMap<string, SchemaNode>;
  /** Of a record: what it holds under any name that no other part declares. */
  readonly item?: SchemaNode;
  /** Messages the author wrote for checks over several keys. */
  readonly messages: readonly string[];
}

/** One table of the file: a section, the tables below it, and the features outside this build that would own it. */
export interface SectionTable {
  section?: Section;
  readonly children: Map<string, SectionTable>;
  readonly absent: CatalogueEntry[];
  /** Other names of tables in it, as a person may write them: name → section. */
  readonly aliases: Map<string, string>;
}

/** A section that a feature owns can always be turned off without being removed. */
const ENABLED = v.strictObject({
  enabled: v.optional(
    v.pipe(v.boolean(), v.description("Set to false to turn the feature off and keep its settings.")),
    true,
  ),
});
const ENABLED_PART = partOf("core", ENABLED);

/** By name, core's first. What definitions get wrong among each other is the lifecycle's to tell. */
export function sectionsOf(features: readonly FeatureDefinition[]): ReadonlyMap<string, Section> {
  const parts = new Map<string, SectionPart[]>();
  for (const [name, schema] of Object.entries(coreSections)) parts.set(name, [partOf("core", schema)]);
  for (const { id, section, config } of features) {
    if (section === undefined || parts.has(section)) continue;
    const part = partOf(id, config ?? v.strictObject({}));
    parts.set(section, part.entries.has("enabled") ? [part] : [part, ENABLED_PART]);
  }
  for (const { id, extends: extended, config } of features) {
    if (extended !== undefined && config !== undefined) parts.get(extended)?.push(partOf(id, config));
  }
  return new Map([...parts].map(([name, list]) => [name, sectionOf(name, list)]));
}

export function partOf(owner: string, schema: v.GenericSchema): SectionPart {
  const { entries = new Map<string, SchemaNode>(), messages, type, item } = nodeOf(schema);
  return { owner, schema, entries, messages, ...(type === "record" && item && { item }) };
}

function sectionOf(name: string, parts: readonly SectionPart[]): Section {
  const entries = new Map(parts.flatMap((part) => [...part.entries]));
  const item = parts.find((part) => part.item)?.item;
  const core = Object.hasOwn(coreSections, name);
  return { name, path: name.split("."), core, parts, entries, ...(item && { item }) };
}

export const isImplicit = (part: SectionPart): boolean => part === ENABLED_PART;

/** The file's tables as a tree. `catalogue` brings in the sections of features that are not in this build. */
export function sectionTables(
  sections: ReadonlyMap<string, Section>,
  catalogue: readonly CatalogueEntry[],
): SectionTable {
  const root: SectionTable = { children: new Map(), absent: [], aliases: new Map() };
  for (const section of sections.values()) tableAt(root, section.path).section = section;
  for (const entry of catalogue) {
    if (!entry.included) for (const name of entry.sections) tableAt(root, name.split(".")).absent.push(entry);
    for (const [alias, section] of Object.entries(entry.aliases ?? {})) {
      tableAt(root, section.split(".").slice(0, -1)).aliases.set(alias, section);
    }
  }
  return root;
}

function tableAt(root: SectionTable, path: readonly string[]): SectionTable {
  let table = root;
  for (const name of path) {
    const next: SectionTable = table.children.get(name) ?? { children: new Map(), absent: [], aliases: new Map() };
    table.children.set(name, next);
    table = next;
  }
  return table;
}

/** What may stand in a table: its keys, and the tables below it that lead to a section of this build. */
export function namesIn(table: SectionTable): string[] {
  const below = [...table.children].filter(([, child]) => leadsToSection(child)).map(([name]) => name);
  return [...(table.section?.entries.keys() ?? []), ...below];
}

const leadsToSection = (table: SectionTable): boolean =>
  table.section !== undefined || [...table.children.values()].some(leadsToSection);

/** The one list of every key there is. Redaction, environment, JSON Schema, `svc config` and the docs all read it. */
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
