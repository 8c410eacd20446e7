/**
 * The config as forms need it: what the file says now, with values as they are written, secrets only as set or not, and what the
 * environment sets; and the schema, with what each key takes and who owns it.
 */
import { type CatalogueEntry, type FeatureDefinition, type Json, featureIdOf } from "@svc/contract";
import type { ConfigFile } from "../config-file.ts";
import { overlayEnvironment } from "../environment.ts";
import { type LoadConfigOptions, loadConfig } from "../load-config.ts";
import { ConfigError, type Problem } from "../problem.ts";
import { secretPlaces } from "../secret-values.ts";
import { sectionTables, sectionsOf } from "../sections.ts";
import { type Table, copyValue, isTable, keyText } from "../table.ts";
import { parseToml } from "../toml.ts";
import { assertWritable } from "../write-config.ts";
import type { SchemaNode } from "../schema-node.ts";

export interface ConfigState {
  readonly file: string;
  /** Changes with every byte of the file. */
  readonly revision: string;
  /** Undefined: it can be written. */
  readonly unwritable: string | undefined;
  /** Nested as in the file, without its secrets. */
  readonly values: Json;
  /** Keys whose secret is set in the file. */
  readonly secrets: readonly string[];
  /** Key → the variable that sets it, whatever the file says. */
  readonly environment: Readonly<Record<string, string>>;
  /** Why the file as it stands does not load. */
  readonly problems: readonly Problem[];
}

export interface StateOptions extends Omit<LoadConfigOptions, "text" | "file"> {
  readonly file: string;
  readonly source: ConfigFile;
  readonly revision: string;
}

export async function configState(options: StateOptions): Promise<ConfigState> {
  const { file, source, revision, env, features } = options;
  const sections = sectionsOf(features);
  const parsed = await parseToml(source.text);
  const table = "table" in parsed ? parsed.table : (Object.create(null) as Table);
  const overlaid = copyValue(table) as Table;
  const { origins } = overlayEnvironment(overlaid, env, sections, sectionTables(sections, []));
  const secrets: string[] = [];
  for (const { path, value, remove } of secretPlaces(table, sections.values())) {
    if (typeof value !== "string" || value.trim() !== "") secrets.push(keyText(path));
    remove();
  }
  return {
    file,
    revision,
    unwritable: whyUnwritable(file),
    values: jsonOf(table),
    secrets,
    environment: Object.fromEntries(origins),
    problems: await problemsOf(options),
  };
}

function whyUnwritable(file: string): string | undefined {
  try {
    assertWritable(file);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

async function problemsOf({ source, ...options }: StateOptions): Promise<readonly Problem[]> {
  try {
    await loadConfig({ ...options, text: source.text });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

/** Dates and numbers that JSON does not know as text. */
function jsonOf(value: unknown): Json {
  if (Array.isArray(value)) return value.map(jsonOf);
  if (isTable(value)) return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, jsonOf(inner)]));
  if (value instanceof Date) return value.toISOString();
  return typeof value === "string" || typeof value === "boolean" || Number.isFinite(value)
    ? (value as Json)
    : String(value);
}

/** What each key takes. By section, in the order of the file's reference. */
export function formSchema(features: readonly FeatureDefinition[], catalogue: readonly CatalogueEntry[]): Json {
  const byId = new Map(catalogue.map((entry) => [entry.id, entry]));
  return [...sectionsOf(features).values()].map(({ name, path, core, parts, item }) => {
    const owner = features.find(({ section }) => section === name);
    const entry = owner && byId.get(featureIdOf(owner));
    return {
      name,
      path: [...path],
      core,
      ...(entry && { feature: entry.id, kind: entry.kind, summary: entry.summary, title: entry.title ?? "" }),
      fields: parts.flatMap(({ owner: by, entries }) =>
        [...entries].map(([key, node]) => ({ ...fieldOf(key, node), ...(by !== parts[0]!.owner && { owner: by }) })),
      ),
      ...(item && { item: fieldOf("*", item) }),
    } as Json;
  });
}

type Field = { [name: string]: Json };

function fieldOf(name: string, node: SchemaNode): Field {
  const { type, required, description, marks, min, max, choices, entries, item, open } = node;
  return {
    name,
    type,
    required,
    ...(node.default !== undefined && !marks.secret && { default: node.default }),
    ...(description !== undefined && { description }),
    ...(marks.secret && { secret: true }),
    ...(marks.generate && { generate: true }),
    ...(marks.ask && { ask: true }),
    ...(marks.restart && { restart: true }),
    ...(min !== undefined && { min }),
    ...(max !== undefined && max !== Number.MAX_SAFE_INTEGER && { max }),
    ...(choices && { choices: [...choices] }),
    ...(open && { open }),
    ...(entries && { fields: [...entries].map(([key, inner]) => fieldOf(key, inner)) }),
    ...(item && { item: fieldOf("*", item) }),
  };
}
