/** A section's values against its schemas. What is told is our own words or the author's; valibot's quote the value. */
import * as v from "valibot";
import { type SchemaNode, allowedValues, expectation } from "./schema-node.ts";
import { type Finding, absentFeature, badKey, badValue, unknownKey } from "./problem.ts";
import { type Section, type SectionPart, type SectionTable, isImplicit, namesIn } from "./sections.ts";
import { type Path, type Table, emptyTable, isTable, valueAt } from "./table.ts";

export interface ValidatedSection {
  /** `undefined` where there are findings. */
  readonly value: unknown;
  /** What each part's own schema made of its keys. */
  readonly parts: ReadonlyMap<SectionPart, unknown>;
  readonly findings: Finding[];
}

/** `lax`: the section is turned off, so that keys may be missing. */
export function validateSection(section: Section, input: Table, lax: boolean): ValidatedSection {
  const findings: Finding[] = [];
  const parts = new Map<SectionPart, unknown>();
  for (const part of section.parts) {
    const own = keysOf(part, section, input);
    // An extension none of whose keys is set is not in use; its required keys are not missed.
    const extension = part !== section.parts[0] && !isImplicit(part);
    if (extension && part.entries.size > 0 && isUnset(own)) continue;
    const result = v.safeParse(part.schema, own);
    const found = (result.issues ?? []).flatMap((issue) => findingOf(issue, part, own, section.path, lax));
    if (result.success) parts.set(part, result.output);
    findings.push(...found);
  }
  return { value: merged(section, parts), parts, findings: distinct(findings) };
}

export const isUnset = (table: Table): boolean => Object.keys(table).length === 0;

export function keysOf(part: SectionPart, section: Section, input: Table): Table {
  const own = emptyTable();
  for (const [name, value] of Object.entries(input)) {
    if (part.entries.has(name) || (part.item && !section.entries.has(name))) own[name] = value;
  }
  return own;
}

function merged(section: Section, parts: ReadonlyMap<SectionPart, unknown>): unknown {
  const shown = section.parts.filter((part) => parts.has(part) && !isImplicit(part));
  if (shown.length === 1) return parts.get(shown[0] as SectionPart);
  return Object.assign({}, ...shown.map((part) => parts.get(part))) as unknown;
}

function findingOf(
  issue: v.BaseIssue<unknown>,
  part: SectionPart,
  own: Table,
  section: readonly string[],
  lax: boolean,
): Finding[] {
  const inside = (issue.path ?? []).map((item) => item.key as string | number);
  const path: Path = [...section, ...inside];
  // Keys that don't belong are all found by checkStructure.
  if (issue.expected === "never" && issue.kind === "schema") return [];
  const { node, messages } = nodeAt(part, inside);
  if (inside.length > 0 && valueAt(own, inside) === undefined) {
    const blank = node?.marks.secret ? "; a blank secret counts as unset" : "";
    return lax ? [] : [badValue(path, `is required${blank}`, { at: "key" })];
  }
  const at = issue.path?.at(-1)?.origin === "key" ? "key" : "value";
  if (messages.includes(issue.message)) return [badValue(path, authored(issue.message), { at })];
  if (!node) return [badValue(path, "is not valid")];
  return [ownWords(issue, node, path, valueAt(own, inside))];
}

/** Checks that are fully told by what the node takes. */
const TOLD = new Set([
  "finite",
  "integer",
  "safe_integer",
  "min_value",
  "max_value",
  "min_length",
  "max_length",
  "non_empty",
]);

function ownWords(issue: v.BaseIssue<unknown>, node: SchemaNode, path: Path, value: unknown): Finding {
  if (issue.kind !== "schema" && !TOLD.has(issue.type)) {
    const pattern = issue.requirement instanceof RegExp ? { allowed: `text like /${issue.requirement.source}/` } : {};
    return badValue(path, "does not have the right form", pattern);
  }
  const allowed = allowedValues(node);
  const guess =
    node.choices && typeof value === "string" ? { guess: { wrong: value, among: node.choices.map(String) } } : {};
  return badValue(path, `must be ${expectation(node)}`, {
    ...(allowed !== undefined && { allowed }),
    ...guess,
    ...(node.type === "union" && { vague: true }),
  });
}

/** An author's message is a sentence of its own, or what completes "must be …". */
const authored = (message: string): string =>
  /^(?:an?|one|the|at least|at most|between)\s/.test(message) ? `must be ${message}` : message;

/** The node at a path, and every message written on the way to it: a check over several keys may point at one. */
function nodeAt(part: SectionPart, inside: Path): { node: SchemaNode | undefined; messages: readonly string[] } {
  const messages = [...part.messages];
  let node: SchemaNode | undefined;
  let holder: Pick<SchemaNode, "entries" | "item"> | undefined = part;
  for (const name of inside) {
    node = holder?.entries?.get(String(name)) ?? holder?.item;
    holder = node;
    messages.push(...(node?.messages ?? []));
  }
  return { node, messages };
}

function distinct(findings: readonly Finding[]): Finding[] {
  const seen = new Map(findings.map((finding) => [JSON.stringify([finding.path, finding.message]), finding]));
  return [...seen.values()];
}

// Finds every key that doesn't belong, at every depth. valibot would tell only the first of each table, and silently drops some names from
// records.

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
