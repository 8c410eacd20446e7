/** What edits of a settings page may not do, beside what a config may not say. */
import { type FeatureDefinition, SvcError } from "@svc/contract";
import type { ConfigEdit } from "../apply-edits.ts";
import { type Environment, overlayEnvironment } from "../environment.ts";
import { badValue, type Finding } from "../finding.ts";
import { matchKey } from "../key-text.ts";
import { MASK } from "../redacted.ts";
import { secretPlaces } from "../secret-values.ts";
import { type Section, sectionTables } from "../sections.ts";
import { copyValue, isTable, keyText, type Path, type Table, valueAt } from "../table.ts";
import { walkSchema } from "../walk-schema.ts";
import { isSealed } from "../secrets/seal.ts";

/** Throws BAD_REQUEST. An encrypted text that somebody found elsewhere, or the dots of a form, are no secret to store. */
export async function checkEdits(edits: readonly ConfigEdit[], features: readonly FeatureDefinition[]): Promise<void> {
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
export function movedSecrets({ was, now, edited, sections, env }: Moved): Finding[] {
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
