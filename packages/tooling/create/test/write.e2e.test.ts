// A package appears whole or not at all, and never on top of another.
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { linkPackage } from "../src/link.ts";
import type { Plan } from "../src/plan.ts";
import { writePlan } from "../src/write.ts";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "svc-write-"));
  mkdirSync(join(root, "packages/features"), { recursive: true });
  mkdirSync(join(root, "profiles"));
  writeFileSync(join(root, "profiles/full.toml"), "old");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const plan = (files: Readonly<Record<string, string>>): Plan => ({
  id: "x",
  folder: "packages/features/x",
  files: new Map(Object.entries(files)),
  changes: new Map([["profiles/full.toml", "new"]]),
});
const features = (): string[] => readdirSync(join(root, "packages/features"));
const profile = (): string => readFileSync(join(root, "profiles/full.toml"), "utf8");

test("writes the files, then the profiles, and leaves no draft", () => {
  writePlan(root, plan({ "package.json": "{}", "src/a.ts": "a" }));
  expect(features()).toEqual(["x"]);
  expect(readFileSync(join(root, "packages/features/x/src/a.ts"), "utf8")).toBe("a");
  expect(profile()).toBe("new");
  expect(readdirSync(join(root, "profiles"))).toEqual(["full.toml"]);
});

test("a folder that is there already stays as it is, and so do the profiles", () => {
  mkdirSync(join(root, "packages/features/x"));
  writeFileSync(join(root, "packages/features/x/mine"), "");
  expect(() => writePlan(root, plan({ "src/a.ts": "a" }))).toThrow("packages/features/x exists already.");
  expect(features()).toEqual(["x"]);
  expect(readdirSync(join(root, "packages/features/x"))).toEqual(["mine"]);
  expect(profile()).toBe("old");
});

test("a file that can't be written leaves nothing behind", () => {
  expect(() => writePlan(root, plan({ "src/a.ts": "a", "src/a.ts/b.ts": "b" }))).toThrow(/ENOTDIR|EEXIST/);
  expect(features()).toEqual([]);
  expect(profile()).toBe("old");
});

test("linking tells what is missing, and what a program said when it failed", () => {
  expect(linkPackage(root, "packages/features/x")).toBe("oxfmt is not installed here.");
  program("oxfmt", "exit 0");
  program("pnpm", 'echo "offline: $*" >&2; case "$*" in *--offline*) exit 1;; esac');
  expect(linkPackage(root, "packages/features/x")).toBeUndefined();
  program("pnpm", "echo no such version; exit 3");
  expect(linkPackage(root, "packages/features/x")).toBe("pnpm failed.\nno such version");
});

function program(name: string, script: string): void {
  mkdirSync(join(root, "node_modules/.bin"), { recursive: true });
  const file = join(root, "node_modules/.bin", name);
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
}
