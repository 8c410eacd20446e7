/** Which keys of the config can hold a secret, and how each is kept. Never what it is. */
import { type Environment, overlayEnvironment } from "../environment.ts";
import { secretPlaces } from "../secret-values.ts";
import { sectionTables } from "../sections.ts";
import { copyValue, keyText, type Table } from "../table.ts";
import { walkSection } from "../walk-schema.ts";
import { type KeyRing, openKeyRing } from "./key-ring.ts";
import { isSealed } from "./seal.ts";
import { openSecretFile, type SecretFileOptions } from "./secret-file.ts";

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
