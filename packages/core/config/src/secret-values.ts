/** Everything done to secrets between the file and the schema: blank ones taken out, sealed ones opened, all listed. */
import { SvcError } from "@svc/contract";
import type { Finding } from "./problem.ts";
import type { SchemaNode } from "./schema-node.ts";
import type { Section } from "./sections.ts";
import { type KnownSecret, SecretPrint, isTooShort } from "./secrets/redact.ts";
import { isSealed } from "./secrets/key-ring.ts";
import { hashedSecret } from "./hashed-secret.ts";
import { isTable, keyText, type Path, type Table, valueAt } from "./table.ts";

/** A value at a key that the schema marks as secret. */
export interface SecretPlace {
  readonly path: Path;
  readonly value: unknown;
  /** Its text is kept nowhere (`Marks.hashed`). */
  readonly hashed: boolean;
  /** svc can make it (`Marks.generate`): it is the operator's to choose. */
  readonly generated: boolean;
  /** `Marks.highValue`. */
  readonly highValue: boolean;
  replace(value: unknown): void;
  remove(): void;
}

/** Every value at every secret position, whatever its type. */
export function secretPlaces(table: Table, sections: Iterable<Section>): SecretPlace[] {
  const places: SecretPlace[] = [];
  const visit = (holder: Table | unknown[], name: string | number, node: SchemaNode, path: Path): void => {
    const value: unknown = (holder as Table)[name];
    if (node.marks.secret) places.push(placeOf(holder, name, node, path, value));
    else if (Array.isArray(value)) {
      // From the end, as taking one out moves those behind it.
      for (let index = value.length - 1; index >= 0; index -= 1) {
        if (node.item) visit(value, index, node.item, [...path, index]);
      }
    } else if (isTable(value)) visitKeys(value, node, path);
  };
  const visitKeys = (holder: Table, { entries, item }: Pick<SchemaNode, "entries" | "item">, path: Path): void => {
    for (const key of Object.keys(holder)) {
      const below = entries?.get(key) ?? item;
      if (below) visit(holder, key, below, [...path, key]);
    }
  };
  for (const section of sections) {
    const holder = valueAt(table, section.path);
    if (isTable(holder)) visitKeys(holder, section, section.path);
  }
  return places;
}

function placeOf(
  holder: Table | unknown[],
  name: string | number,
  { marks }: SchemaNode,
  path: Path,
  value: unknown,
): SecretPlace {
  return {
    path,
    value,
    hashed: marks.hashed === true,
    generated: marks.generate === true,
    highValue: marks.highValue === true,
    replace: (next) => ((holder as Table)[name] = next),
    remove: () => {
      if (Array.isArray(holder)) holder.splice(name as number, 1);
      else delete holder[name];
    },
  };
}

/** Every text that the places hold, also inside a value of the wrong type, and `others`. Each once. */
export const textsOf = (places: readonly SecretPlace[], others: readonly string[] = []): string[] => [
  ...new Set([...places.flatMap(({ value }) => textsIn(value)), ...others]),
];

/** The same for the redactor: of those whose text is kept nowhere, what recognises them. Each once. */
export function knownSecrets(places: readonly SecretPlace[], others: readonly string[]): KnownSecret[] {
  const texts = (hashed: boolean): string[] =>
    places.filter((place) => place.hashed === hashed).flatMap(({ value }) => textsIn(value));
  const plain = new Set([...texts(false), ...others]);
  const hidden = new Set(texts(true).filter((text) => !plain.has(text) && !isSealed(text)));
  return [...plain, ...Array.from(hidden, (text) => new SecretPrint(text))];
}

/** Changes `input`, the keys of a section: a secret whose text is kept nowhere is its SHA-256 from here on. */
export function hashSecrets(input: Table, { entries }: Pick<Section, "entries">): void {
  for (const [name, { marks }] of entries) {
    const value = input[name];
    if (marks.hashed && typeof value === "string") input[name] = hashedSecret(value)?.sha256;
  }
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return value.trim() === "" ? [] : [value];
  if (typeof value === "number" || typeof value === "bigint") return [String(value)];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** Keys of the secrets that are too short to be taken out of the log. */
export const shortSecrets = (table: Table, sections: Iterable<Section>): string[] =>
  secretPlaces(table, sections).flatMap(({ path, value }) => (textsIn(value).some(isTooShort) ? [keyText(path)] : []));

/** `svc init` makes them of 32 random bytes. Letters and digits that a person chose have some four bits each. */
export const LEAST_CHOSEN_CHARS = 16;

/** Keys of the secrets that are the operator's to choose, and are short enough to be guessed. */
export const guessableSecrets = (table: Table, sections: Iterable<Section>): string[] =>
  secretPlaces(table, sections)
    .filter(
      ({ generated, value }) => generated && textsIn(value).some((text) => text.trim().length < LEAST_CHOSEN_CHARS),
    )
    .map(({ path }) => keyText(path));

/** True when a secret stands in `table` in plain text. */
export const hasPlainSecret = (table: Table, sections: Iterable<Section>): boolean =>
  textsOf(secretPlaces(table, sections)).some((text) => !isSealed(text));

/** Changes `table`: blank secrets go, sealed ones become plain. `open` is asked only for a sealed one. */
export function settleSecrets(table: Table, sections: Iterable<Section>, open: (sealed: string) => string): Finding[] {
  const findings: Finding[] = [];
  for (const place of secretPlaces(table, sections)) {
    if (typeof place.value !== "string") continue;
    try {
      const text = isSealed(place.value) ? open(place.value) : place.value;
      if (text.trim() === "") place.remove();
      else place.replace(text);
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      findings.push(unreadableSecret(place.path, error));
    }
  }
  return findings;
}

function unreadableSecret(path: Path, { code, message, hint = "" }: SvcError): Finding {
  return { code, path, at: "value", message: `encrypted, and can't be opened: ${message} ${hint}`.trimEnd() };
}
