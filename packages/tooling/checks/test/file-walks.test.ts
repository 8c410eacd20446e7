// One recursive removal by path let another user of the machine delete any file of the service.
import { describe, expect, test } from "vitest";
import { fileWalks } from "../src/checks/file-walks.ts";
import { judge } from "./judge.ts";

const file = "packages/features/tool-a/src/a.ts";
const found = (text: string, where = file): string[] => judge(fileWalks, { [where]: text });

describe("fails on", () => {
  test.each([
    'import { rm } from "node:fs/promises"; await rm(path, { recursive: true });',
    'import { rmSync as gone } from "node:fs"; gone(path, { force: true, recursive: true });',
    'import { rm } from "node:fs/promises"; await rm(path, options);',
    'import { rm } from "node:fs/promises"; await rm(path, { ...options });',
    'import { cp } from "node:fs/promises";',
    'import { lchown } from "fs/promises";',
    'import { readdirSync } from "fs";',
    'import * as fs from "node:fs";',
    'import fs from "node:fs";',
  ])("%s", (text) => {
    expect(found(text)).toHaveLength(1);
  });
});

describe("passes", () => {
  test.each([
    'import { rm } from "node:fs/promises"; await rm(path, { force: true });',
    'import { rmSync } from "node:fs"; rmSync(path);',
    'import { removePath } from "@svc/kit/files"; await removePath(path);',
    "await handle.chown(1, 1);",
  ])("%s", (text) => {
    expect(found(text)).toEqual([]);
  });

  test("the place itself, and a place with a reason", () => {
    const text = 'import { readdir } from "node:fs/promises";';
    expect(found(text, "packages/core/kit/src/files/trees.ts")).toEqual([]);
    expect(found(text, "packages/features/sandbox-jail/src/view.ts")).toEqual([]);
  });
});
