// Texts that people write and the config reads: keys, TOML by two parsers. Whatever the text, the reader does not throw, and what was
// written is what is read.
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readKey } from "../src/key-text.ts";
import { emptyTable, isTable, type Table } from "../src/table.ts";
import { parseToml, tomlKey, tomlText } from "../src/toml.ts";
import { readPlaces } from "../src/toml-places.ts";

const name = fc.oneof(
  fc.stringMatching(/^[\w-]{1,8}$/),
  fc.string({ unit: "grapheme" }),
  fc.constantFrom("__proto__", "constructor", "a.b", '"', "'", "\\"),
);

describe("a typed key", () => {
  test("is the path it was written for, bare or quoted", () => {
    fc.assert(
      fc.property(
        fc.array(name, { minLength: 1, maxLength: 5 }),
        fc.array(fc.nat(999_999), { maxLength: 2 }),
        (names, indexes) => {
          const text = tomlKey(names) + indexes.map((index) => `[${index}]`).join("");
          expect(readKey(text)).toEqual([...names.map((one) => one.toWellFormed()), ...indexes]);
        },
      ),
    );
  });

  test("or none, whatever was typed", () => {
    const typed = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string({ unit: fc.constantFrom(".", "[", "]", '"', "'", "\\", "a", "0", " ", "-") }),
    );
    fc.assert(
      fc.property(typed, (text) => {
        const path = readKey(text);
        expect(path?.length).not.toBe(0);
        expect(/^[\w-]+$/.test(text) ? path : [text]).toEqual([text]);
      }),
      { numRuns: cases(1_000) },
    );
  });
});

describe("TOML", () => {
  const value = fc.oneof(
    fc.string({ unit: "grapheme" }).map(tomlText),
    fc.integer({ min: -(2 ** 40), max: 2 ** 40 }).map(String),
    fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 }).map((number) => number.toFixed(3)),
    fc.constantFrom(
      "true",
      "false",
      "[]",
      '["a", "b"]',
      "[1, 2, 3]",
      '{ x = 1, y = "z" }',
      "'literal \\ text'",
      '"""\nlong\n"""',
      "0x1F",
      "0o17",
      "0b101",
      "1_000",
    ),
  );
  const bareName = fc.constantFrom(
    "a",
    "b",
    "c",
    "d-e",
    '"quoted name"',
    "'x.y'",
    "toString",
    "constructor",
    "__proto__",
    "1",
  );
  const line = fc.oneof(
    {
      weight: 4,
      arbitrary: fc
        .tuple(fc.array(bareName, { minLength: 1, maxLength: 3 }), value)
        .map(([keys, text]) => `${keys.join(".")} = ${text}`),
    },
    { weight: 2, arbitrary: fc.array(bareName, { minLength: 1, maxLength: 3 }).map((keys) => `[${keys.join(".")}]`) },
    { weight: 1, arbitrary: bareName.map((key) => `[[${key}]]`) },
    {
      weight: 1,
      arbitrary: fc.constantFrom("# a comment", "", "  ", "key", "= 1", "[", "a = ", 'a = "', "\u0000", "a = 1 b = 2"),
    },
  );

  /** Without prototypes, so that two tables are equal when they say the same. */
  const plain = (from: unknown): unknown => {
    if (Array.isArray(from)) return from.map(plain);
    if (!isTable(from)) return typeof from === "bigint" ? Number(from) : from;
    const table: Table = emptyTable();
    for (const [key, inner] of Object.entries(from)) table[key] = plain(inner);
    return table;
  };

  function otherTable(text: string): unknown {
    try {
      return plain(readPlaces(text).table);
    } catch {
      return undefined;
    }
  }

  test("is a table or a fault with its place, says the same to both parsers, and touches no prototype", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 8 }), async (lines) => {
        const text = lines.join("\n");
        const parsed = await parseToml(text);
        expect(Object.keys(Object.prototype)).toEqual([]);
        expect("fault" in parsed ? parsed.fault.message : "a table").not.toBe("");
        const table = "table" in parsed ? plain(parsed.table) : undefined;
        // They differ at the edges of TOML; what is written is compared with both (edit-config.ts).
        expect(otherTable(text) ?? table).toEqual(table ?? otherTable(text));
      }),
      { numRuns: cases(500) },
    );
  });

  test("of any bytes at all is a table or a fault, and the fault quotes none of them", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary" }), async (text) => {
        const parsed = await parseToml(`planted-secret ${text}`);
        expect("fault" in parsed ? parsed.fault.message : "").not.toContain("planted");
      }),
    );
  });
});
