/**
 * The config file as a holder of secrets: its secret values rewritten in place, everything else left as it is. A result
 * that would not say the same, secrets opened, is never written.
 */
import { resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { FeatureDefinition } from "@svc/contract";
import { type ConfigFile, parseConfig, readConfigFile } from "../config-file.ts";
import { unchangeable } from "../edit-config.ts";
import { ConfigError, report } from "../problem.ts";
import { hasPlainSecret, secretPlaces, settleSecrets } from "../secret-values.ts";
import { type Section, sectionTables, sectionsOf, walkSection } from "../sections.ts";
import { type Path, type Table, copyValue, keyText } from "../table.ts";
import type { Places } from "../toml-places.ts";
import { tomlText } from "../toml.ts";
import { assertWritable, withChangeLock, writeConfigFile } from "../write-config.ts";
import type { Home } from "../home.ts";
import { type KeyRing, isSealed, openKeyRing } from "./key-ring.ts";
import { type Environment, overlayEnvironment } from "../environment.ts";

export interface SecretFileOptions {
  readonly home: Home;
  /** Default: `config.toml` of the home. */
  readonly file?: string;
  /** Features of this build: their schemas say what is a secret. */
  readonly features: readonly FeatureDefinition[];
}

export interface SecretFile {
  readonly file: string;
  readonly source: ConfigFile;
  readonly table: Table;
  readonly sections: readonly Section[];
}

type Open = (stored: string) => string;

/** Throws CONFIG_NOT_FOUND and CONFIG_INVALID. Of the config no more is checked than that it is TOML. */
export async function openSecretFile({ home, file, features }: SecretFileOptions): Promise<SecretFile> {
  const path = resolve(file ?? home.config);
  const source = readConfigFile(path);
  const { table } = await parseConfig(path, source);
  return { file: path, source, table, sections: [...sectionsOf(features).values()] };
}

/** Throws one ConfigError with every secret that `open` can't open. */
export async function assertReadable({ file, source, table, sections }: SecretFile, open: Open): Promise<void> {
  const findings = settleSecrets(copyValue(table) as Table, sections, open);
  if (findings.length === 0) return;
  const problems = await report(findings, { file, text: source.text, origins: new Map(), secrets: [] });
  throw new ConfigError(file, problems);
}

export interface Rewritten {
  readonly text: string;
  readonly keys: readonly string[];
}

/** `change` is given each text at a secret position that is not blank; what it gives takes its place in the text. */
export async function rewriteSecrets(
  { source: { text }, table, sections }: SecretFile,
  change: (stored: string) => string | undefined,
): Promise<Rewritten> {
  const places = await placesOf(text);
  const edits: { start: number; end: number; value: string; path: Path }[] = [];
  for (const { path, value: stored } of secretPlaces(table, sections)) {
    const range = places.rangeOf(path);
    if (typeof stored !== "string" || stored.trim() === "" || !range) continue;
    const value = change(stored);
    if (value !== undefined) edits.push({ start: range[0], end: range[1], value: tomlText(value), path });
  }
  edits.sort((a, b) => a.start - b.start);
  let rewritten = "";
  let done = 0;
  for (const { start, end, value } of edits) {
    rewritten += text.slice(done, start) + value;
    done = end;
  }
  return { text: rewritten + text.slice(done), keys: edits.map(({ path }) => keyText(path)) };
}

async function placesOf(text: string): Promise<Places> {
  const { readPlaces } = await import("../toml-places.ts");
  try {
    return readPlaces(text);
  } catch (cause) {
    // The two parsers differ at the edges of TOML.
    throw unchangeable(undefined, cause);
  }
}

/** `expected`: what the text must say, its secrets opened as far as `open` can. Throws CONFIG_CHANGED, CONFIG_UNWRITABLE. */
export async function writeSecretFile(before: SecretFile, text: string, expected: Table, open: Open): Promise<void> {
  const { file, source, sections } = before;
  const after = await parseConfig(file, { text }).catch(() => undefined);
  if (!after || !isDeepStrictEqual(plain(after.table, sections, open), plain(expected, sections, open))) {
    throw unchangeable();
  }
  writeConfigFile(file, source, text);
}

function plain(table: Table, sections: readonly Section[], open: Open): Table {
  const copy = copyValue(table) as Table;
  settleSecrets(copy, sections, (stored) => (isSealed(stored) ? open(stored) : stored));
  return copy;
}

/** Which keys of the config can hold a secret, and how each is kept. Never what it is. */
export interface SecretState {
  readonly key: string;
  readonly state: "encrypted" | "plain" | "unreadable" | "environment" | "unset";
  /** The variable that it comes from; the file may have one too, which is not in force then. */
  readonly variable?: string;
  /** `Marks.highValue`. */
  readonly highValue?: true;
}

/**
 * In the order of the schema; of records and lists the ones that are there. The config need not be one that loads. Throws
 * CONFIG_NOT_FOUND and CONFIG_INVALID for a file that is no TOML.
 */
export async function listSecrets(options: SecretFileOptions & { readonly env: Environment }): Promise<SecretState[]> {
  const { table, sections } = await openSecretFile(options);
  const ring = openKeyRing(options.home);
  const overlaid = copyValue(table) as Table;
  const byName = new Map(sections.map((section) => [section.name, section]));
  const { origins } = overlayEnvironment(overlaid, options.env, byName, sectionTables(byName, []));
  return sections.flatMap((section) => {
    const found = secretPlaces(overlaid, [section]);
    const places = new Map(found.map(({ path, value }) => [keyText(path), value]));
    const highValue = new Set(found.flatMap((place) => (place.highValue ? keyText(place.path) : [])));
    const plain = walkSection(section).filter(({ path, node }) => node.marks.secret && !isWild(path));
    const keys = new Set([...plain.map(({ path }) => keyText(path)), ...places.keys()]);
    return [...keys].map((key) => ({
      ...stateOf(key, places.get(key), origins.get(key), ring),
      ...(highValue.has(key) && { highValue: true as const }),
    }));
  });
}

const isWild = (path: readonly string[]): boolean => path.includes("*") || path.includes("[]");

function stateOf(key: string, value: unknown, variable: string | undefined, ring: KeyRing): SecretState {
  if (variable !== undefined) return { key, state: "environment", variable };
  if (value === undefined || (typeof value === "string" && value.trim() === "")) return { key, state: "unset" };
  if (typeof value !== "string" || !isSealed(value)) return { key, state: "plain" };
  return { key, state: canOpen(ring, value) ? "encrypted" : "unreadable" };
}

function canOpen(ring: KeyRing, sealed: string): boolean {
  try {
    ring.open(sealed);
    return true;
  } catch {
    return false;
  }
}

/** `secrets.encrypt`: what stands in the config in plain text is sealed in place. */
export interface SealedConfig {
  /** The keys whose values were sealed. */
  readonly sealed: readonly string[];
  /** Lines of the file where one of these values still stands: a comment, or a key that is no secret. */
  readonly stillIn: readonly number[];
}

/**
 * Seals every secret of the file that is plain, whatever `secrets.encrypt` says, and makes the key file when there is none.
 * Throws CONFIG_NOT_FOUND, CONFIG_INVALID, CONFIG_CHANGED (somebody else was quicker), CONFIG_UNWRITABLE (read-only: the
 * secrets stay plain), and SECRET_UNREADABLE for what is sealed and can't be opened: a key made beside a lost one would
 * hide that it can still be found.
 */
export async function sealConfigFile(options: SecretFileOptions): Promise<SealedConfig> {
  const { file, table, sections } = await openSecretFile(options);
  if (!hasPlainSecret(table, sections)) return { sealed: [], stillIn: [] };
  assertWritable(file);
  return withChangeLock(options.home, () => sealed(options));
}

async function sealed(options: SecretFileOptions): Promise<SealedConfig> {
  const file = await openSecretFile(options);
  const ring = openKeyRing(options.home);
  await assertReadable(file, ring.open);
  const plain: string[] = [];
  const { text, keys } = await rewriteSecrets(file, (stored) => {
    if (isSealed(stored)) return undefined;
    plain.push(stored);
    return ring.seal(stored);
  });
  if (keys.length > 0) await writeSecretFile(file, text, file.table, ring.open);
  return { sealed: keys, stillIn: linesWith(text, plain) };
}

/** Short ones stand in a text by chance. */
const SHORTEST = 8;

function linesWith(text: string, secrets: readonly string[]): number[] {
  const long = secrets.filter((secret) => secret.length >= SHORTEST);
  const lines = text.split("\n").map((line, index) => (long.some((secret) => line.includes(secret)) ? index + 1 : 0));
  return lines.filter((line) => line > 0);
}
