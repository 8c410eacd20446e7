// behaviour: one schema walk finds every secret in both directions. Whatever the schema and however the file is written, what
// is sealed opens to the same, and no secret is left in the file, in what is shown or in a log line.
import { type FeatureDefinition, secret } from "@svc/contract";
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { readFileSync } from "node:fs";
import * as v from "valibot";
import { afterAll, expect, test } from "vitest";
import { MASK, createRedactor, loadConfig, openKeyRing, rotateSecretKey, sealConfigFile } from "../src/index.ts";
import { makeFixture } from "./config-fixtures.ts";

const fixture = makeFixture();
const { home } = fixture;
afterAll(() => fixture.remove());

/** What a secret of the generated configs begins with: found anywhere, it leaked. */
const MARK = "sk-PLANTED-";

type Shape =
  | { readonly kind: "secret" | "plain" }
  | { readonly kind: "list" | "record"; readonly item: Shape }
  | { readonly kind: "table"; readonly entries: Readonly<Record<string, Shape>> };

/** A value, and the schema it is made for. */
interface Made {
  readonly shape: Shape;
  readonly value: unknown;
}

const key = fc.constantFrom("a", "b", "c", "d_1", "e-2");
const name = fc.oneof(key, fc.constantFrom("gpt-5.2", "with space", "é", "toString", "'", '"', ""));
const secretText = fc.string({ unit: "grapheme", maxLength: 20 }).map((text) => `${MARK}${text.toWellFormed()}`);
const plainText = fc.constantFrom("plain", "", "# no comment", 'quote"', "two\nlines", "enc2:is-no-secret-here");

const { table } = fc.letrec<{ shape: Shape; table: Shape }>((tie) => ({
  shape: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.record({ kind: fc.constantFrom("secret" as const, "secret" as const, "plain" as const) }),
    fc.record({ kind: fc.constantFrom("list" as const, "record" as const), item: tie("shape") }),
    tie("table"),
  ),
  table: fc.record({
    kind: fc.constant("table" as const),
    entries: fc.dictionary(key, tie("shape"), { minKeys: 1, maxKeys: 4 }),
  }),
}));

function valueOf(shape: Shape): fc.Arbitrary<unknown> {
  switch (shape.kind) {
    case "secret":
      return secretText;
    case "plain":
      return plainText;
    case "list":
      return fc.array(valueOf(shape.item), { maxLength: 3 });
    case "record":
      return fc.dictionary(name, valueOf(shape.item), { maxKeys: 3 });
    case "table":
      return fc.record(Object.fromEntries(Object.entries(shape.entries).map(([each, of]) => [each, valueOf(of)])), {
        requiredKeys: [],
      });
  }
}

function schemaOf(shape: Shape): v.GenericSchema {
  switch (shape.kind) {
    case "secret":
      return secret();
    case "plain":
      return v.string();
    case "list":
      return v.array(schemaOf(shape.item));
    case "record":
      return v.record(v.string(), schemaOf(shape.item));
    case "table":
      return v.strictObject(
        Object.fromEntries(Object.entries(shape.entries).map(([each, of]) => [each, v.optional(schemaOf(of))])),
      );
  }
}

/** Writes a value as TOML, in the many ways there are; `styles` says which. */
class Writer {
  readonly #styles: readonly number[];
  #at = 0;

  constructor(styles: readonly number[]) {
    this.#styles = styles;
  }

  #choose(count: number): number {
    this.#at += 1;
    return (this.#styles[this.#at % this.#styles.length] ?? 0) % count;
  }

  /** The lines of a table that has a header, and then the tables below it. */
  section(path: readonly string[], entries: object): string {
    const own: string[] = [];
    const below: string[] = [];
    for (const [each, value] of Object.entries(entries)) {
      const inner = [...path, each];
      if (isTable(value) && this.#choose(3) > 0) below.push(this.section(inner, value));
      else if (isListOfTables(value) && this.#choose(2) > 0) {
        for (const item of value) below.push(this.section(inner, item).replace(/^\[(.*)\]$/m, "[[$1]]"));
      } else own.push(...this.#pair([each], value));
    }
    const comment = this.#choose(3) === 0 ? "# keep this\n" : "";
    return `${comment}[${path.map((each) => this.#key(each)).join(".")}]\n${own.join("")}${below.join("")}`;
  }

  #pair(path: readonly string[], value: unknown): string[] {
    if (isTable(value) && Object.keys(value).length > 0 && this.#choose(2) === 0) {
      return Object.entries(value).flatMap(([each, inner]) => this.#pair([...path, each], inner));
    }
    const indent = "  ".repeat(this.#choose(2));
    const after = this.#choose(3) === 0 ? " # keep this" : "";
    return [`${indent}${path.map((each) => this.#key(each)).join(".")} = ${this.#value(value, true)}${after}\n`];
  }

  #value(value: unknown, mayBreak: boolean): string {
    if (typeof value === "string") return this.#text(value, mayBreak);
    if (Array.isArray(value)) {
      const items = value.map((item) => this.#value(item, mayBreak));
      return mayBreak && this.#choose(2) === 0 ? `[ # keep this\n${items.join(",\n")}\n]` : `[${items.join(", ")}]`;
    }
    const pairs = Object.entries(value as object).map(
      ([each, inner]) => `${this.#key(each)} = ${this.#value(inner, false)}`,
    );
    return `{ ${pairs.join(", ")} }`;
  }

  #key(text: string): string {
    if (/^[\w-]+$/.test(text) && this.#choose(3) > 0) return text;
    return !/['\p{Cc}]/u.test(text) && this.#choose(2) === 0 ? `'${text}'` : basic(text);
  }

  #text(text: string, mayBreak: boolean): string {
    const isPlain = !/\p{Cc}/u.test(text);
    const style = this.#choose(5);
    if (style === 1 && isPlain && !text.includes("'")) return `'${text}'`;
    if (style === 2 && isPlain && mayBreak && !text.includes("''") && !text.endsWith("'")) return `'''\n${text}'''`;
    if (style === 3 && mayBreak) return `"""\\\n   ${basic(text).slice(1, -1).replace(/^ /, "\\u0020")}"""`;
    if (style === 4) return basic(text).replace(/e/g, "\\u0065");
    return basic(text);
  }
}

const basic = (text: string): string => JSON.stringify(text).replaceAll("\u007f", "\\u007f");
const isTable = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isListOfTables = (value: unknown): value is object[] =>
  Array.isArray(value) && value.length > 0 && value.every(isTable);

const made: fc.Arbitrary<Made> = table.chain((shape) => valueOf(shape).map((value) => ({ shape, value })));

function secretsIn(shape: Shape, value: unknown): string[] {
  switch (shape.kind) {
    case "secret":
      return [value as string];
    case "plain":
      return [];
    case "table":
      return Object.entries(value as object).flatMap(([each, inner]) => secretsIn(shape.entries[each]!, inner));
    default:
      return Object.values(value as object).flatMap((inner) => secretsIn(shape.item, inner));
  }
}

const count = (text: string, part: string): number => text.split(part).length - 1;

test("for every schema and every way to write its values", async () => {
  const sealedInAll: string[] = [];
  await fc.assert(
    fc.asyncProperty(
      made,
      fc.array(fc.nat(59), { minLength: 40, maxLength: 40 }),
      fc.constantFrom("\n", "\r\n"),
      async ({ shape, value }, styles, eol) => {
        const feature: FeatureDefinition = {
          id: "made",
          section: "made",
          config: schemaOf(shape),
          load: () => Promise.reject(new Error("never")),
        };
        const load = () => loadConfig({ home, env: {}, features: [feature], catalogue: [] });
        const toml = new Writer(styles).section(["made"], value as object).replaceAll("\n", eol);
        fixture.write(toml);
        const before = await load();
        expect(before.section("made")).toEqual(value);
        const secrets = secretsIn(shape, value);

        const { sealed } = await sealConfigFile({ home, features: [feature] });
        sealedInAll.push(...sealed);
        expect(sealed).toHaveLength(secrets.length);
        const text = readFileSync(home.config, "utf8");
        expect(text).not.toContain(MARK);
        expect(count(text, "enc2:")).toBe(count(toml, "enc2:") + secrets.length);
        expect(count(text, "# keep this")).toBe(count(toml, "# keep this"));

        const after = await load();
        expect(after.section("made")).toEqual(value);
        expect(after.hash("made")).toBe(before.hash("made"));
        const shown = JSON.stringify([after.redacted(), after]);
        expect(shown).not.toContain(MARK);
        expect(count(shown, MASK)).toBe(2 * secrets.length);
        const { redact } = createRedactor(after.secrets());
        expect(redact(`${JSON.stringify(value)} ${secrets.join(" ")}`)).not.toContain(MARK);

        const vault = { reseal: () => Promise.resolve() };
        const rotated = await rotateSecretKey({ home, features: [feature], vault });
        expect(rotated.sealed).toEqual(sealed);
        expect((await load()).section("made")).toEqual(value);
        const { open } = openKeyRing(home);
        const opened = readFileSync(home.config, "utf8").match(/enc2:[0-9a-f]{56,}/g) ?? [];
        expect(opened.map((each) => open(each)).toSorted()).toEqual(secrets.toSorted());
      },
    ),
    { numRuns: cases(60) },
  );
  expect(sealedInAll.length).toBeGreaterThan(cases(60) / 3);
});
