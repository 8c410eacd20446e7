/**
 * The config file as a settings page edits it: edits by path, a diff before anything is written, a version kept of every write, and
 * the way back. The file stays the truth: what an editor or another page wrote meanwhile is never overwritten.
 */
import { join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { type FeatureDefinition, SvcError } from "@svc/contract";
import { type ConfigEdit, applyConfigEdits } from "../edit-config.ts";
import { assertWritable, withChangeLock, writeConfigFile } from "../write-config.ts";
import { type ConfigFile, parseConfig, readConfigFile } from "../config-file.ts";
import { type LoadConfigOptions, loadConfig } from "../load-config.ts";
import type { LoadedConfig } from "../loaded-config.ts";
import { ConfigError, type Finding, type Problem, badValue, report } from "../problem.ts";
import { type Section, sectionTables, sectionsOf, walkSchema, walkSection } from "../sections.ts";
import { type Path, type Table, copyValue, isTable, keyText, valueAt } from "../table.ts";
import { nodeCrypto } from "../hashed-secret.ts";
import { isSealed, openKeyRing } from "../secrets/key-ring.ts";
import { secretPlaces, settleSecrets, textsOf } from "../secret-values.ts";
import { rewriteSecrets } from "../secrets/secret-file.ts";
import { type ConfigState, configState } from "./form.ts";
import { type DiffLine, type Version, VersionStore, diffOf } from "../versions.ts";
import { MASK } from "../redacted.ts";
import { readPlaces } from "../toml-places.ts";
import { tomlText } from "../toml.ts";
import { type Environment, overlayEnvironment } from "../environment.ts";
import { matchKey } from "../key-text.ts";

export interface EditorOptions extends Omit<LoadConfigOptions, "text"> {
  readonly now: () => number;
}

/** Edits of the file as it is, or the file as it was before a version. */
export type SettingsChange = { readonly edits: readonly ConfigEdit[] } | { readonly undo: number };

export interface SettingsPreview {
  readonly revision: string;
  /** Secrets as dots. */
  readonly diff: readonly DiffLine[];
  /** Nothing is written while there is one. */
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
}

export interface SavedSettings {
  /** Undefined: the file says so already. */
  readonly version: number | undefined;
  readonly keys: readonly string[];
  readonly revision: string;
  readonly config: LoadedConfig;
  /** Puts the file back as it was, unless somebody changed it meanwhile. True: it is as it was. */
  readonly restore: () => Promise<boolean>;
}

interface ConfigBefore {
  /** The file's text before the write, its secrets encrypted. */
  readonly before: string;
  readonly mark: string;
  /** Of the file after the write. */
  readonly revision: string;
}

interface Draft {
  readonly text: string;
  readonly config: LoadedConfig | undefined;
  readonly problems: readonly Problem[];
  readonly keys: readonly string[];
  readonly edited: readonly Path[];
}

const MOST_VERSIONS = 50;

export class ConfigEditor {
  readonly #options: EditorOptions;
  readonly #file: string;
  readonly #sections: readonly Section[];
  readonly #versions: VersionStore<ConfigBefore>;

  constructor(options: EditorOptions) {
    this.#options = options;
    this.#file = resolve(options.file ?? options.home.config);
    this.#sections = [...sectionsOf(options.features).values()];
    this.#versions = new VersionStore({
      folder: join(options.home.root, "versions"),
      subject: this.#file,
      most: MOST_VERSIONS,
      isBefore: ({ before }) => typeof before === "string",
      unwritable: "CONFIG_UNWRITABLE",
    });
  }

  /** Throws CONFIG_NOT_FOUND and CONFIG_INVALID for a file that can't be read as text. */
  async state(): Promise<ConfigState> {
    const source = readConfigFile(this.#file);
    return configState({ ...this.#options, file: this.#file, source, revision: revisionOf(source) });
  }

  /** Throws CONFIG_INVALID for a file that is not TOML, CONFIG_UNWRITABLE for an edit that can't be made in place, VERSION_UNKNOWN. */
  async preview(change: SettingsChange): Promise<SettingsPreview> {
    const source = readConfigFile(this.#file);
    const draft = await this.#draft(source.text, change);
    return {
      revision: revisionOf(source),
      diff: await this.#diff(source.text, draft.text, draft.edited),
      problems: draft.problems,
      warnings: draft.config?.warnings ?? [],
    };
  }

  /** The config as it would load with the change. Throws as `save`, and writes nothing. */
  async tried(change: SettingsChange): Promise<LoadedConfig> {
    const { config, problems } = await this.#draft(readConfigFile(this.#file).text, change);
    if (!config) throw new ConfigError(this.#file, problems);
    return config;
  }

  /**
   * `revision`: of the file that was previewed. Throws CONFIG_CHANGED when it is another by now, ConfigError with every problem,
   * CONFIG_UNWRITABLE, VERSION_UNKNOWN; then nothing is changed.
   */
  async save(change: SettingsChange, revision: string, by: string): Promise<SavedSettings> {
    readConfigFile(this.#file);
    assertWritable(this.#file);
    return withChangeLock(this.#options.home, async () => {
      const before = readConfigFile(this.#file);
      if (revisionOf(before) !== revision) throw changedMeanwhile(this.#file);
      const draft = await this.#draft(before.text, change);
      const { config, keys } = draft;
      if (!config) throw new ConfigError(this.#file, draft.problems);
      const text = config.core.secrets.encrypt ? await this.#sealed(draft.text) : draft.text;
      if (text === before.text) return { version: undefined, keys, revision, config, restore: async () => true };
      const after = { ...before, text };
      const version = this.#versions.keep({
        at: new Date(this.#options.now()).toISOString(),
        by,
        keys,
        before: await this.#sealed(before.text),
        mark: before.mark,
        revision: revisionOf(after),
      });
      try {
        writeConfigFile(this.#file, before, text);
      } catch (error) {
        this.#versions.drop(version);
        throw error;
      }
      return {
        version,
        keys,
        revision: revisionOf(after),
        config,
        restore: () => this.#restored(before, after, version),
      };
    });
  }

  /** The newest first. */
  history(): Version[] {
    return this.#versions.list().map(({ version, at, by, keys }) => ({ version, at, by, keys }));
  }

  /** What a version changed, secrets as dots. Throws VERSION_UNKNOWN. */
  async changeOf(version: number): Promise<readonly DiffLine[]> {
    const all = this.#versions.list();
    const { before } = this.#versions.read(version);
    const next = all.findLast((other) => other.version > version);
    return this.#diff(before, next ? this.#versions.read(next.version).before : readConfigFile(this.#file).text, []);
  }

  async #restored(before: ConfigFile, written: ConfigFile, version: number): Promise<boolean> {
    return withChangeLock(this.#options.home, async () => {
      const now = readConfigFile(this.#file);
      if (revisionOf(now) !== revisionOf(written)) return false;
      writeConfigFile(this.#file, now, before.text);
      this.#versions.drop(version);
      return true;
    });
  }

  async #draft(text: string, change: SettingsChange): Promise<Draft> {
    if ("undo" in change) return this.#undone(text, this.#versions.read(change.undo));
    const { edits } = change;
    await checkEdits(edits, this.#options.features);
    const edited = await applyConfigEdits(text, edits);
    const paths = edits.map(({ path }) => path);
    return this.#loaded(text, edited, paths, paths.map(keyText));
  }

  /** A secret that a rotation of the key made unreadable is taken as it is now. */
  async #undone(text: string, { before, keys }: Pick<Version, "keys"> & ConfigBefore): Promise<Draft> {
    const ring = openKeyRing(this.#options.home);
    const now = new Map((await this.#places(text)).map(({ path, value }) => [keyText(path), value]));
    const then = await this.#places(before);
    const own: Path[] = [];
    const edits: ConfigEdit[] = [];
    for (const { path, value } of then) {
      if (typeof value !== "string") continue;
      const current = now.get(keyText(path));
      if (canOpen(ring.open, value)) own.push(path);
      else if (typeof current === "string") edits.push({ path, value: current });
    }
    return this.#loaded(text, await applyConfigEdits(before, edits), own, keys);
  }

  async #loaded(before: string, text: string, edited: readonly Path[], keys: readonly string[]): Promise<Draft> {
    const draft = { text, keys, edited };
    const [was, now] = await Promise.all([this.#table(before), this.#table(text)]);
    const moved = movedSecrets({ was, now, edited, sections: this.#sections, env: this.#options.env });
    const problems = await report(moved, { file: this.#file, text, origins: new Map(), secrets: [] });
    try {
      const config = await loadConfig({ ...this.#options, file: this.#file, text });
      return { ...draft, config: problems.length > 0 ? undefined : config, problems };
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return { ...draft, config: undefined, problems: [...problems, ...error.problems] };
    }
  }

  async #diff(before: string, after: string, edited: readonly Path[]): Promise<readonly DiffLine[]> {
    const ring = openKeyRing(this.#options.home);
    const [old, next] = await Promise.all([this.#table(before), this.#table(after)]);
    const secrets = [...secretsIn(old, this.#sections, ring.open), ...secretsIn(next, this.#sections, ring.open)];
    const mask = (text: string, table: Table, paths: readonly Path[]) =>
      maskedText({ text, table, sections: this.#sections, secrets, edited: paths });
    return diffOf(mask(before, old, []), mask(after, next, edited));
  }

  /** Every plain secret encrypted; the rest of the text as it is. */
  async #sealed(text: string): Promise<string> {
    const table = await this.#table(text);
    const ring = openKeyRing(this.#options.home);
    const file = { file: this.#file, source: { text, mark: "", mode: undefined }, table, sections: this.#sections };
    const sealed = await rewriteSecrets(file, (stored) => (isSealed(stored) ? undefined : ring.seal(stored)));
    const opened = (from: Table): Table => {
      const copy = copyValue(from) as Table;
      settleSecrets(copy, this.#sections, ring.open);
      return copy;
    };
    if (isDeepStrictEqual(opened(await this.#table(sealed.text)), opened(table))) return sealed.text;
    throw new SvcError("CONFIG_UNWRITABLE", "A secret can't be encrypted in place in this config.");
  }

  async #table(text: string): Promise<Table> {
    return (await parseConfig(this.#file, { text })).table;
  }

  async #places(text: string) {
    return secretPlaces(await this.#table(text), this.#sections);
  }
}

function canOpen(open: (stored: string) => string, stored: string): boolean {
  try {
    open(stored);
    return true;
  } catch {
    return false;
  }
}

function secretsIn(table: Table, sections: readonly Section[], open: (stored: string) => string): string[] {
  const copy = copyValue(table) as Table;
  settleSecrets(copy, sections, open);
  return textsOf(secretPlaces(copy, sections));
}

/** Of the bytes, the mark at their beginning included. */
const revisionOf = ({ text, mark }: Pick<ConfigFile, "text" | "mark">): string =>
  nodeCrypto()
    .createHash("sha256")
    .update(mark + text)
    .digest("hex")
    .slice(0, 32);

const changedMeanwhile = (file: string): SvcError =>
  new SvcError(
    "CONFIG_CHANGED",
    `Someone else changed ${file} while you were editing it, in an editor or another browser; their change was kept.`,
    {
      hint: "Look at the change again, then save it.",
    },
  );

/** The text of a config file without a character of a secret, for a diff. */
interface Masking {
  readonly text: string;
  readonly table: Table;
  readonly sections: readonly Section[];
  /** In plain text, for comments that hold one too. */
  readonly secrets: readonly string[];
  /** Secrets at or below these are shown as new. */
  readonly edited: readonly Path[];
}

/** Shorter ones stand in a text by chance. */
const SHORTEST = 6;

function maskedText({ text, table, sections, secrets, edited }: Masking): string {
  const places = readPlaces(text);
  const isNew = (path: Path): boolean =>
    edited.some((own) => own.length <= path.length && own.every((name, depth) => name === path[depth]));
  const ranges = secretPlaces(table, sections).flatMap(({ path, value }) => {
    const range = places.rangeOf(path);
    return range && value !== "" ? [{ range, shown: tomlText(isNew(path) ? `${MASK} (new)` : MASK) }] : [];
  });
  ranges.sort((a, b) => b.range[0] - a.range[0]);
  let masked = text;
  for (const { range, shown } of ranges) masked = masked.slice(0, range[0]) + shown + masked.slice(range[1]);
  for (const secret of secrets) if (secret.length >= SHORTEST) masked = masked.replaceAll(secret, MASK);
  return masked.replaceAll(COMMENTED, (line, start: string, name: string) =>
    namesOfSecrets(sections).has(name) ? `${start}${tomlText(MASK)}` : line,
  );
}

const COMMENTED = /^([ \t]*#[ \t]*(?:[\w-]+\.)*([\w-]+)[ \t]*=[ \t]*)(?:"[^"\r\n]+"|'[^'\r\n]+')/gm;

const namesOfSecrets = (sections: readonly Section[]): ReadonlySet<string> =>
  new Set(
    sections.flatMap((section) =>
      walkSection(section).flatMap(({ path, node }) => (node.marks.secret ? [keyText(path.slice(-1))] : [])),
    ),
  );

// What edits of a settings page may not do, beside what a config may not say.

/** Throws BAD_REQUEST. An encrypted text that somebody found elsewhere, or the dots of a form, are no secret to store. */
async function checkEdits(edits: readonly ConfigEdit[], features: readonly FeatureDefinition[]): Promise<void> {
  const secrets = walkSchema(features).filter(({ node }) => node.marks.secret);
  for (const edit of edits) {
    if ("remove" in edit) continue;
    const { path, value } = edit;
    if (!isPlain(value)) throw refused(`${keyText(path)}: null, and what is nested too deeply, can't be written.`);
    if (textsIn(value).some((text) => isSealed(text) || text.includes(MASK))) {
      throw refused(`${keyText(path)}: this is not a value, but how one is stored or shown.`);
    }
    const isSecret = secrets.some((key) => matchKey(key, path) !== undefined);
    if (isSecret && (typeof value !== "string" || value.trim() === "")) {
      throw refused(`${keyText(path)} is a secret, and a blank one counts as unset; remove it instead.`);
    }
  }
}

const refused = (message: string): SvcError => new SvcError("BAD_REQUEST", message);

const DEEPEST = 20;

const isPlain = (value: unknown, depth = 0): boolean =>
  depth < DEEPEST &&
  (typeof value === "object" && value !== null
    ? Object.values(value).every((inner) => isPlain(inner, depth + 1))
    : typeof value === "string" || typeof value === "boolean" || Number.isFinite(value));

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

interface Moved {
  readonly was: Table;
  readonly now: Table;
  /** Paths that the edits are about. */
  readonly edited: readonly Path[];
  readonly sections: readonly Section[];
  readonly env: Environment;
}

/** Keys that say where a secret beside them is sent. */
const ADDRESS = /^(?:provider|homeserver)$|(?:^|_)(?:url|host|server|endpoint|base)$/;
/** Those that others call. */
const OWN_ADDRESS = /^(?:webhook|public|callback)_url$/;

/**
 * Secrets that would be sent to another address than the one they were given for. A page never shows a secret; to point the service
 * at an own server and read it there would show it all the same.
 */
function movedSecrets({ was, now, edited, sections, env }: Moved): Finding[] {
  const byName = new Map(sections.map((section) => [section.name, section]));
  const overlaid = copyValue(now) as Table;
  const { origins } = overlayEnvironment(overlaid, env, byName, sectionTables(byName, []));
  return secretPlaces(overlaid, sections).flatMap(({ path, value }) => {
    if (typeof value === "string" && value.trim() === "") return [];
    if (edited.some((own) => own.length <= path.length && own.every((name, depth) => name === path[depth]))) return [];
    const holder = sections.find(({ path: start }) => start.every((name, depth) => path[depth] === name));
    if (!holder || !isAddressed(path, holder, was, now)) return [];
    const variable = origins.get(keyText(path));
    if (variable === undefined) return [badValue(path, "was given for another address; enter it again, or remove it")];
    return [badValue(path, "was given for another address; change both outside of the page", { env: variable })];
  });
}

/** A table around the secret has another address than it had. */
function isAddressed(path: Path, section: Section, was: Table, now: Table): boolean {
  for (let length = path.length - 1; length >= Math.max(1, section.path.length); length -= 1) {
    const around = path.slice(0, length);
    if (length < path.length - 1 && section.item) return false;
    if (differs(valueAt(was, around), valueAt(now, around))) return true;
  }
  return false;
}

function differs(was: unknown, now: unknown): boolean {
  if (!isTable(now)) return false;
  const before = isTable(was) ? was : {};
  return [...new Set([...Object.keys(before), ...Object.keys(now)])].some((name) => {
    if (isTable(now[name])) return differs(before[name], now[name]);
    if (!ADDRESS.test(name) || OWN_ADDRESS.test(name)) return false;
    return JSON.stringify(before[name]) !== JSON.stringify(now[name]);
  });
}
