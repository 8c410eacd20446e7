// Folders that import each other can only be read together, which is what a folder is there to avoid.
import { expect, test } from "vitest";
import { folderWalls } from "../src/checks/folder-walls.ts";
import { judge } from "./judge.ts";

const found = (files: Readonly<Record<string, string>>, home = "packages/core/kit"): string[] =>
  judge(folderWalls, Object.fromEntries(Object.entries(files).map(([file, text]) => [`${home}/${file}`, text])));

test("names two folders that import each other's values, once", () => {
  expect(
    found({
      "src/a/one.ts": 'import { two } from "../b/two.ts";',
      "src/a/other.ts": 'import { two } from "../b/two.ts";',
      "src/b/two.ts": 'import { one } from "../a/one.ts";',
    }),
  ).toEqual([
    "packages/core/kit/src/a/one.ts:1 packages/core/kit/src/a imports values of packages/core/kit/src/b, which imports values of it.",
  ]);
});

test("counts what is imported when it is needed", () => {
  const files = {
    "src/a/one.ts": 'export const load = () => import("../b/two.ts");',
    "src/b/two.ts": 'import { one } from "../a/one.ts";',
  };
  expect(found(files, "apps/svc")).toEqual([
    "apps/svc/src/a/one.ts:1 apps/svc/src/a imports values of apps/svc/src/b, which imports values of it.",
  ]);
});

test.each([
  ["one way", "export const two = 2;", 'import { two } from "../b/two.ts";'],
  ["a type one way", 'import type { One } from "../a/one.ts";', 'import { two } from "../b/two.ts";'],
  ["a type among names", 'import { type One } from "../a/one.ts";', 'import { two } from "../b/two.ts";'],
])("allows %s", (_, two, one) => {
  expect(found({ "src/a/one.ts": one, "src/b/two.ts": two })).toEqual([]);
});

test("allows a folder and the one it lies in, and tests", () => {
  expect(
    found({
      "src/one.ts": 'import { two } from "./b/two.ts";',
      "src/b/two.ts": 'import { one } from "../one.ts";',
      "test/a/one.ts": 'import { two } from "../b/two.ts";',
      "test/b/two.ts": 'import { one } from "../a/one.ts";',
    }),
  ).toEqual([]);
});
