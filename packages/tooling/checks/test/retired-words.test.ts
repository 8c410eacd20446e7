// Words of a private vocabulary leave the pages only if nothing lets them back in.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { RETIRED_LIST, retiredWords } from "../src/checks/retired-words.ts";
import { judge } from "./judge.ts";

const LIST = `
source_folders = ["packages/core/clean/src/"]

[[retired]]
words = ["whoever", "of which"]
use = "a subject"
in = ["docs", "source", "code"]

[[retired]]
words = ["a yes"]
use = "approval"
in = ["docs", "code"]

[[retired]]
words = ["Place"]
use = "Permit"
in = ["code"]

[[exempt]]
path = "docs/decisions/"
why = "history"
`;

const found = (text: string, file = "docs/a.md", list = LIST): string[] =>
  judge(retiredWords, { [RETIRED_LIST]: list, [file]: text });

describe("retired-words", () => {
  test.each([
    ["# A\n\nWhoever reads this.", 'docs/a.md:3 The word "Whoever" is retired.'],
    ["| whoever |", 'docs/a.md:1 The word "whoever" is retired.'],
    ["the list of\nwhich one is left", 'docs/a.md:1 The word "of which" is retired.'],
    ["- the list of\n  which one is left", 'docs/a.md:1 The word "of which" is retired.'],
    ["```sh\nx\n```\n\n`x` whoever `y`", 'docs/a.md:5 The word "whoever" is retired.'],
    ["<!-- a\ncomment -->\nwhoever", 'docs/a.md:3 The word "whoever" is retired.'],
  ])("fails: %j", (text, message) => {
    expect(found(text)).toEqual([message]);
  });

  test.each([
    "```sh\nwhoever\n```",
    "`whoever` in code, [a link](whoever.md)",
    "<!-- whoever\nwhoever -->",
    "whoeverish, x-whoever and the end of\n\nwhich page",
    "Place is retired from code alone.",
  ])("passes: %j", (text) => {
    expect(found(text)).toEqual([]);
  });

  test.each([
    ["const x = 1;\nclass Place {}", 'a/b.ts:2 The word "Place" is retired.'],
    ["/** A\n comment */ interface Place {}", 'a/b.ts:2 The word "Place" is retired.'],
    ["use(whoever)", 'a/b.ts:1 The word "whoever" is retired.'],
  ])("fails as a name: %j", (text, message) => {
    expect(found(text, "a/b.ts")).toEqual([message]);
  });

  test.each(["class Placement {}", "const place = 1;", "// Place\nsay(\"Place\", 'Place', `Place`);", "/* Place */"])(
    "passes as a name: %j",
    (text) => {
      expect(found(text, "a/b.ts")).toEqual([]);
    },
  );

  test("passes an exempt folder, and source outside of the listed folders", () => {
    expect(found("whoever", "docs/decisions/a.md")).toEqual([]);
    expect(found("// whoever", "packages/core/other/src/a.ts")).toEqual([]);
  });

  const SOURCE = "packages/core/clean/src/a.ts";
  test.each([
    ["/** Whoever asks. */", `${SOURCE}:1 The word "Whoever" is retired.`],
    ['const text = "whoever";', `${SOURCE}:1 The word "whoever" is retired.`],
    ["/**\n * The list of\n * which one is left.\n */", `${SOURCE}:2 The word "of which" is retired.`],
    ["// the list of\n// which one is left", `${SOURCE}:1 The word "of which" is retired.`],
  ])("fails in source of a listed folder: %j", (text, message) => {
    expect(found(text, SOURCE)).toEqual([message]);
  });

  test.each([
    "const WHOEVER = 1;",
    "const whoEver = 1;",
    "const isWhoever = 1;",
    "// a yes is retired from docs alone",
  ])("passes in source of a listed folder: %j", (text) => {
    expect(found(text, SOURCE)).toEqual([]);
  });

  test.each([
    ['[[retired]]\nwords = ["x"]\nin = ["docs"]', "use"],
    ["words =", "Key without value"],
  ])("a malformed list can't be used: %j", (list, message) => {
    expect(() => found("", "docs/a.md", list)).toThrow(message);
  });

  test("the list itself is well formed, and retires a word once", () => {
    const text = readFileSync(join(import.meta.dirname, "../../../..", RETIRED_LIST), "utf8");
    expect(found("Whoever it was, of which.", "docs/a.md", text)).toHaveLength(2);
    const words = [...text.matchAll(/^words = \[(.*)\]$/gm)].flatMap(([, line = ""]) => line.split(", "));
    expect(words).toEqual([...new Set(words)]);
  });
});
