/** The text of a config file without a character of a secret, for a diff. */
import { MASK } from "../config/redacted.ts";
import { secretPlaces } from "../config/secret-values.ts";
import type { Section } from "../config/sections.ts";
import { keyText, type Path, type Table } from "../config/table.ts";
import { readPlaces } from "../config/toml-places.ts";
import { tomlText } from "../config/toml-text.ts";
import { walkSection } from "../config/walk-schema.ts";

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

export function maskedText({ text, table, sections, secrets, edited }: Masking): string {
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
