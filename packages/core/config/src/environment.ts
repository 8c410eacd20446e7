/**
 * The environment laid over the file. `SVC__GATEWAY__PORT` sets any key there is and beats everything; the variables
 * the specification names set their one key, before the file (override) or where it is silent (fallback), and never
 * bring a section into being. A blank secret is no secret: it neither sets nor takes away one.
 */
import { type SchemaNode, allowedValues, expectation, readText } from "./schema-node.ts";
import { absentFeature, badKey, badValue, type Finding, unknownKey } from "./problem.ts";
import { type SchemaKey, type Section, type SectionTable, namesIn, walkSection } from "./sections.ts";
import { copyValue, isTable, keyText, type Path, setAt, type Table, valueAt } from "./table.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Overlay {
  readonly findings: Finding[];
  /** Which variable set a key, by `keyText`. */
  readonly origins: Map<string, string>;
}

const PREFIX = "SVC__";

/** Changes `table`. */
export function overlayEnvironment(
  table: Table,
  env: Environment,
  sections: ReadonlyMap<string, Section>,
  tables: SectionTable,
): Overlay {
  const overlay: Overlay = { findings: [], origins: new Map() };
  // Sections that SVC__ variables bring into being are there for the named variables too.
  const before = copyValue(table) as Table;
  applyPrefixed(table, env, tables, sections, overlay);
  for (const section of sections.values()) {
    if (section.core || isTable(valueAt(table, section.path))) applyNamed(table, before, env, section, overlay);
  }
  return overlay;
}

function applyNamed(table: Table, before: Table, env: Environment, section: Section, { origins }: Overlay): void {
  for (const { path, key, node } of walkSection(section)) {
    const { env: name, envMode } = node.marks;
    const text = name === undefined ? undefined : env[name];
    if (name === undefined || text === undefined || text.trim() === "" || origins.has(key)) continue;
    if (path.includes("*") || path.includes("[]")) continue;
    if (envMode === "fallback" && !isSilent(valueAt(before, path))) continue;
    const read = readText(node, text);
    if (read && setAt(table, path, read.value)) origins.set(key, name);
  }
}

const isSilent = (value: unknown): boolean => value === undefined || (typeof value === "string" && value.trim() === "");

function applyPrefixed(
  table: Table,
  env: Environment,
  tables: SectionTable,
  sections: ReadonlyMap<string, Section>,
  { findings, origins }: Overlay,
): void {
  const names = Object.keys(env).filter((name) => name.startsWith(PREFIX) && env[name] !== undefined);
  // Tables before the keys in them, so that a variable for one key of a table given as JSON is not lost.
  names.sort((a, b) => a.split("__").length - b.split("__").length || (a < b ? -1 : 1));
  for (const name of names) {
    const text = env[name] as string;
    const found = findKey(name, table, tables, sections);
    if (!("node" in found)) findings.push(found);
    else if (origins.has(keyText(found.path))) findings.push(badKey(found.path, "set by two variables", { env: name }));
    else if (!(found.node.marks.secret && text.trim() === "")) {
      const read = readText(found.node, text);
      if (!read) findings.push(unreadable(found.path, found.node, name));
      else if (setAt(table, found.path, copyValue(read.value))) origins.set(keyText(found.path), name);
    }
  }
}

function unreadable(path: Path, node: SchemaNode, env: string): Finding {
  const allowed = allowedValues(node);
  return badValue(path, `must be ${expectation(node)}`, { env, ...(allowed !== undefined && { allowed }) });
}

interface FoundKey {
  readonly path: readonly string[];
  readonly node: SchemaNode;
}

/** Walks the tables, then the keys, by lower-cased segments. */
function findKey(
  env: string,
  table: Table,
  tables: SectionTable,
  sections: ReadonlyMap<string, Section>,
): FoundKey | Finding {
  const segments = env.slice(PREFIX.length).toLowerCase().split("__");
  const path: string[] = [];
  let here = tables;
  let node: SchemaNode | undefined;
  for (const segment of segments) {
    const child = node ? undefined : here.children.get(segment);
    if (child) {
      path.push(segment);
      here = child;
      if (!child.section && child.absent.length > 0) return absentFeature(path, child.absent, { env });
      continue;
    }
    const entries = node ? node.entries : here.section?.entries;
    const item: SchemaNode | undefined = !node || node.type === "record" ? (node ?? here.section)?.item : undefined;
    const name = [...(entries?.keys() ?? [])].find((key) => key.toLowerCase() === segment);
    if (name !== undefined) {
      node = entries?.get(name);
      path.push(name);
    } else if (item && segment !== "") {
      const names = recordKeys(valueAt(table, path), segment);
      if (names.length > 1) return badKey(path, `stands for more than one of ${names.join(", ")}`, { env });
      path.push(names[0] ?? segment);
      node = item;
    } else {
      const names = node ? [...(node.entries?.keys() ?? [])] : namesIn(here);
      return unknownVariable({ env, segments, path, names, sections });
    }
  }
  if (node) return { path, node };
  return badKey(path, "this is a section; set its keys one by one", { env });
}

/**
 * The file's spellings of a record's key: a variable's name can't tell upper from lower case, and has no "-" or ".", so
 * that `SVC__AGENTS__NIGHT_WATCH` is [agents.night-watch] when the file has that one.
 */
function recordKeys(record: unknown, segment: string): string[] {
  const lower = isTable(record) ? Object.keys(record).map((key) => [key, key.toLowerCase()] as const) : [];
  const exact = lower.filter(([, key]) => key === segment);
  const found = exact.length > 0 ? exact : lower.filter(([, key]) => key.replace(/[^a-z0-9_]/g, "_") === segment);
  return found.map(([key]) => key);
}

interface UnknownVariable {
  readonly env: string;
  readonly segments: readonly string[];
  /** What of it is known. */
  readonly path: readonly string[];
  /** What may follow that. */
  readonly names: readonly string[];
  readonly sections: ReadonlyMap<string, Section>;
}

/** Guessed by the whole name: a single underscore where two belong is the mistake people make. */
function unknownVariable({ env, segments, path, names, sections }: UnknownVariable): Finding {
  if (segments.includes("")) return badKey([], "no key has such a name", { env });
  const keys = [...sections.values()].flatMap(walkSection);
  const among = new Set([...names.map((name) => ({ path: [...path, name] })), ...keys].map(variableName));
  return unknownKey(segments, names, [], { env, guess: { wrong: env, among: [...among] } });
}

export const variableName = ({ path }: Pick<SchemaKey, "path">): string => PREFIX + path.join("__").toUpperCase();
