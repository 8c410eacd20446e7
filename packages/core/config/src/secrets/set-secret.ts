/** One secret of the config set without an editor, so that it never stands in a shell's history or in the file in plain text. */
import { type FeatureDefinition, SvcError } from "@svc/contract";
import { setConfigValues } from "../edit-config.ts";
import { type Environment, overlayEnvironment } from "../environment.ts";
import { type SchemaKey, sectionTables, sectionsOf, walkSection } from "../sections.ts";
import { type Path, type Table, copyValue, emptyTable, keyText, valueAt } from "../table.ts";
import { assertWritable, withChangeLock, writeConfigFile } from "../write-config.ts";
import { isSealed, openKeyRing } from "./key-ring.ts";
import { type SecretFile, type SecretFileOptions, openSecretFile } from "./secret-file.ts";
import { matchKey, readKey } from "../key-text.ts";
import { checkStructure, validateSection } from "../validate.ts";
import { nearest } from "../problem.ts";

export interface SetSecretOptions extends SecretFileOptions {
  /** As `readKey` takes it: `model.api_key`, `agents.helper.model.api_key`. The file need not have it. */
  readonly key: string;
  readonly value: string;
  readonly env: Environment;
}

export interface SecretSet {
  /** The key as the file spells it. */
  readonly key: string;
  /** False when `secrets.encrypt` is off. */
  readonly sealed: boolean;
  /** The variable that beats the file: what was set is not in force while that one is. */
  readonly beatenBy: string | undefined;
}

/**
 * Throws USAGE for a key that is no secret, a blank value and one that is sealed already; CONFIG_NOT_FOUND, CONFIG_INVALID,
 * CONFIG_CHANGED, CONFIG_UNWRITABLE; SECRET_UNREADABLE when the key file can't be used. Other secrets may be unreadable:
 * this is how they are set anew.
 */
export async function setConfigSecret(options: SetSecretOptions): Promise<SecretSet> {
  const { key, value, home, env, features } = options;
  const path = await secretKeyPath(key, value, features);
  if (value.trim() === "") throw new SvcError("USAGE", "The value is blank, and a blank secret counts as unset.");
  if (isSealed(value)) {
    throw new SvcError("USAGE", "The value is encrypted already.", {
      hint: "Give it as the other side gave it to you.",
    });
  }
  assertWritable((await openSecretFile(options)).file);
  return withChangeLock(home, async () => {
    const file = await openSecretFile(options);
    const { encrypt, beatenBy } = inForce(file, env, path);
    const stored = encrypt ? openKeyRing(home).seal(value) : value;
    const text = await setConfigValues(file.source.text, [{ path, value: stored }]);
    writeConfigFile(file.file, file.source, text);
    return { key: keyText(path), sealed: encrypt, beatenBy };
  });
}

/** The config may be one that can't be loaded: a missing secret may be the reason. */
function inForce({ table, sections }: SecretFile, env: Environment, path: Path) {
  const overlaid = copyValue(table) as Table;
  const byName = new Map(sections.map((section) => [section.name, section]));
  const { origins } = overlayEnvironment(overlaid, env, byName, sectionTables(byName, []));
  return { encrypt: valueAt(overlaid, ["secrets", "encrypt"]) !== false, beatenBy: origins.get(keyText(path)) };
}

// Which secret of the config a key typed in means, or what it may have meant.

/** Throws USAGE with what would be right; the value is never a part of it. */
async function secretKeyPath(key: string, value: string, features: readonly FeatureDefinition[]): Promise<Path> {
  const sections = sectionsOf(features);
  const keys = [...sections.values()].flatMap(walkSection);
  const typed = readKey(key) ?? [];
  for (const candidate of keys) {
    const path = matchKey(candidate, typed);
    if (!path) continue;
    if (!candidate.node.marks.secret) throw noSecret(keyText(path));
    const fault = faultOf(path, value, sections.get(candidate.section)!);
    if (fault === undefined) return path;
    throw new SvcError("USAGE", `${keyText(path)}: ${fault}.`);
  }
  throw await unknown(
    key,
    typed,
    keys.filter(({ node }) => node.marks.secret),
  );
}

type Section = Parameters<typeof validateSection>[0];

/** What is wrong with the value, or with a name in the path. What lacks beside it is not its fault. */
function faultOf(path: Path, value: string, section: Section): string | undefined {
  // Whichever item of a list is meant, here it is the first.
  const probe = path.map((name) => (typeof name === "number" ? 0 : name));
  const table = tableWith(probe, value);
  const tables = sectionTables(new Map([[section.name, section]]), []);
  const own = validateSection(section, valueAt(table, section.path) as Table, true);
  const findings = [...checkStructure(table, tables), ...own.findings];
  return findings.find(({ at, path: place }) => at === "key" || place.length === probe.length)?.message;
}

function tableWith(path: Path, value: string): Table {
  const root = emptyTable();
  let holder: Table | unknown[] = root;
  for (const [depth, name] of path.entries()) {
    const next = depth === path.length - 1 ? value : typeof path[depth + 1] === "number" ? [] : emptyTable();
    (holder as Table)[name] = next;
    holder = next as Table | unknown[];
  }
  return root;
}

const noSecret = (key: string): SvcError =>
  new SvcError("USAGE", `${key} is not a secret.`, {
    hint: "Set it in the config file; svc config check tells if it is right.",
  });

async function unknown(key: string, typed: Path, secrets: readonly SchemaKey[]): Promise<SvcError> {
  const named = secrets.map(({ path }) =>
    keyText(path.map((name, index) => (name === "*" ? String(typed[index] ?? "<name>") : name))),
  );
  const meant = await nearest(key, named);
  const all = secrets.map(({ key: name }) => name.replaceAll(".[]", "[0]").replaceAll("*", "<name>")).join(", ");
  return new SvcError("USAGE", "The config has no secret by this key.", {
    hint: `${meant === undefined ? "" : `Did you mean ${meant}? `}Secrets are: ${all}.`,
  });
}
