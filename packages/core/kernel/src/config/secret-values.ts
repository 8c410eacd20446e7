/** Everything done to secrets between the file and the schema: blank ones taken out, sealed ones opened, all listed. */
import { SvcError } from "@svc/contract";
import type { Finding } from "./finding.ts";
import type { SchemaNode } from "./schema-node.ts";
import type { Section } from "./sections.ts";
import { isTooShort } from "../redact.ts";
import { isSealed } from "../secrets/seal.ts";
import { isTable, keyText, type Path, type Table, valueAt } from "./table.ts";

/** A value at a key that the schema marks as secret. */
export interface SecretPlace {
  readonly path: Path;
  readonly value: unknown;
  replace(value: unknown): void;
  remove(): void;
}

/** Every value at every secret position, whatever its type. */
export function secretPlaces(table: Table, sections: Iterable<Section>): SecretPlace[] {
  const places: SecretPlace[] = [];
  const visit = (holder: Table | unknown[], name: string | number, node: SchemaNode, path: Path): void => {
    const value: unknown = (holder as Table)[name];
    if (node.marks.secret) places.push(placeOf(holder, name, path, value));
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

function placeOf(holder: Table | unknown[], name: string | number, path: Path, value: unknown): SecretPlace {
  return {
    path,
    value,
    replace: (next) => ((holder as Table)[name] = next),
    remove: () => {
      if (Array.isArray(holder)) holder.splice(name as number, 1);
      else delete holder[name];
    },
  };
}

/** Every text that a secret position holds, also inside a value of the wrong type. */
export function secretTexts(table: Table, sections: Iterable<Section>): string[] {
  return secretPlaces(table, sections).flatMap(({ value }) => textsIn(value));
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return value.trim() === "" ? [] : [value];
  if (typeof value === "number" || typeof value === "bigint") return [String(value)];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** Keys of the secrets that are too short to be taken out of the log. */
export const shortSecrets = (table: Table, sections: Iterable<Section>): string[] =>
  secretPlaces(table, sections).flatMap(({ path, value }) => (textsIn(value).some(isTooShort) ? [keyText(path)] : []));

/** True when a secret stands in `table` in plain text. */
export const hasPlainSecret = (table: Table, sections: Iterable<Section>): boolean =>
  secretTexts(table, sections).some((text) => !isSealed(text));

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
