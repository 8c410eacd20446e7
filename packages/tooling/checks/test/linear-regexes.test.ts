// One header made a regular expression look 128 million times: each that is slow is found, whoever wrote it and however it is made.
import { describe, expect, test } from "vitest";
import { LINEAR_LIST, linearList, linearRegexes } from "../src/checks/linear-regexes.ts";
import { essenceOf, readWritten } from "../src/regexes.ts";
import { inMemory } from "../src/workspace.ts";
import { judge } from "./judge.ts";

const FILE = "packages/core/gateway/src/a.ts";
const found = (code: string, files = {}): string[] => judge(linearRegexes, { [FILE]: code, ...files });

describe("linear-regexes", () => {
  test.each([
    ["blanks at both ends", String.raw`/^[ \t]+|[ \t]+$/g`],
    ["a nested repetition", "/^(a+)+$/"],
    ["two ways to the same", "/^(a|aa)+$/"],
    ["a neighbour that may begin with the same", "/^#{4,6}\\s+(\\S.*?)\\s*#*$/"],
    ["a beginning that may be in what follows it", String.raw`/"(?:[^"\\]|\\.)*"/g`],
    ["a tag that is never closed", "/<a\\b[^>]*>/"],
    ["a search from every place", "/%.*$/"],
  ])("%s is found", (_name, regex) => {
    expect(found(`\nexport const x = ${regex};`)).toEqual([
      expect.stringMatching(/^packages\/core\/gateway\/src\/a\.ts:2 \/.* is (?:polynomial|exponential): /),
    ]);
  });

  test.each([
    "apps/svc/src/a.ts",
    "apps/dashboard/src/a.tsx",
    "packages/core/kit/src/b/a.ts",
    "packages/features/x/src/a.ts",
  ])("everything that ships is looked at: %s", (file) =>
    expect(judge(linearRegexes, { [file]: "x.replace(/=+$/, '');" })).toHaveLength(1),
  );

  test("tests and tools are not", () => {
    const files = { "packages/core/kit/test/a.ts": "/=+$/;", "packages/tooling/checks/src/a.ts": "/=+$/;" };
    expect(judge(linearRegexes, files)).toEqual([]);
  });

  test("a linear one passes once it is in the list, and is told until then", () => {
    const code = "export const x = /^a+b/;";
    expect(found(code)).toEqual([`${FILE}:1 warning: A regular expression is linear and not in the list.`]);
    expect(found(code, { [LINEAR_LIST]: linearList(inMemory({ [FILE]: code })) })).toEqual([]);
  });

  test("one that repeats nothing without end needs no list", () => {
    expect(found("export const x = /^[a-z]{1,250}@[a-z]{0,9}$|^b?c$/;")).toEqual([]);
  });

  test("one that is made at run time must say what it is like", () => {
    const unknown = `${FILE}:1 A regular expression is built at run time, and the list has no example of it.`;
    expect(found("export const x = (name: string) => new RegExp(`^${name}$`);")).toEqual([unknown]);
    expect(found("export const x = (name: string) => RegExp(name, 'g');")).toEqual([unknown]);
  });

  test("an entry for one that was changed is told", () => {
    const file = "packages/core/gateway/src/http/request.ts";
    expect(judge(linearRegexes, { [file]: "export {};" })).toEqual([
      `${file}:0 A rule of linear-regexes names a regular expression that is gone.`,
    ]);
  });
});

test("bounded repetitions are judged by how the time grows, not by how long they are", () => {
  const essence = (literal: string): string | undefined => essenceOf(readWritten(literal));
  expect(essence("/^[a-z]{1,250}-*$/gi")).toBe("/^[a-z]{1,3}-*$/i");
  expect(essence("/a{4}b{2,}?c{0,9}?/")).toBe("/a{2}b{2,}?c{0,3}?/");
  expect(essence(String.raw`/\{9,\}[{1,9}]{7}x+/`)).toBe(String.raw`/\{9,\}[{1,9}]{2}x+/`);
  expect(essence("/a{1,9}/")).toBeUndefined();
});
