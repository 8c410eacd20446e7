/**
 * The config file as a holder of secrets: its secret values rewritten in place, everything else left as it is. A result
 * that would not say the same, secrets opened, is never written.
 */
import { resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { FeatureDefinition } from "@svc/contract";
import { type ConfigFile, parseConfig, readConfigFile } from "../config-file.ts";
import { unchangeable } from "../edit-config.ts";
import { ConfigError, report } from "../report.ts";
import { secretPlaces, settleSecrets } from "../secret-values.ts";
import { type Section, sectionsOf } from "../sections.ts";
import { copyValue, keyText, type Path, type Table } from "../table.ts";
import type { Places } from "../toml-places.ts";
import { tomlText } from "../toml-text.ts";
import { writeConfigFile } from "../write-config.ts";
import type { Home } from "../home.ts";
import { isSealed } from "./seal.ts";

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
