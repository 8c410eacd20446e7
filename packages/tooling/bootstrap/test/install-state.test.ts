// A second `npm start` must not install again, and must notice every change that needs it; two at once must not write
// node_modules together, and a killed one must not block the next for ever.
import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { withLock } from "../lock.mjs";
import { placeBinary } from "../place.mjs";
import { clearStamp, isInstalled, workspacePackages, writeStamp } from "../stamp.mjs";

let folder = "";
const file = (path: string, text = "{}") => {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
};
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-bootstrap-"));
  file("pnpm-workspace.yaml", "packages:\n  - apps/*\n  - packages/core/*\n  - bench\n\npmOnFail: ignore\n");
  file("pnpm-lock.yaml", "lockfileVersion: '9.0'\n");
  for (const name of ["apps/svc", "packages/core/runtime", "bench"]) file(`${name}/package.json`);
  file("packages/core/notes.txt");
  for (const name of [".pnpm", ".bin"]) mkdirSync(join(folder, "node_modules", name), { recursive: true });
  mkdirSync(join(folder, "apps/svc/node_modules"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("stamp", () => {
  test("knows the workspace's packages without a YAML parser", () => {
    expect(workspacePackages(folder)).toEqual(["apps/svc", "bench", "packages/core/runtime"].map((dir) => join(dir)));
  });

  test("is good after an install, and only then", () => {
    expect(isInstalled(folder)).toBe(false);
    writeStamp(folder);
    expect(isInstalled(folder)).toBe(true);
    clearStamp(folder);
    expect(isInstalled(folder)).toBe(false);
  });

  test.each(["pnpm-lock.yaml", "pnpm-workspace.yaml", "bench/package.json"])("a change of %s is seen", (name) => {
    writeStamp(folder);
    appendFileSync(join(folder, name), "\n");
    expect(isInstalled(folder)).toBe(false);
  });

  test("a new package, a deleted node_modules and a torn stamp are seen", () => {
    writeStamp(folder);
    file("packages/core/store/package.json");
    expect(isInstalled(folder)).toBe(false);
    writeStamp(folder);
    rmSync(join(folder, "apps/svc/node_modules"), { recursive: true });
    expect(isInstalled(folder)).toBe(false);
    file("node_modules/.svc-install.json", '{"hash":');
    expect(isInstalled(folder)).toBe(false);
  });
});

describe("lock", () => {
  test("two of them take turns, and nothing is left behind", async () => {
    const path = join(folder, "dist", ".lock");
    const order: string[] = [];
    const work = (name: string) => async () => {
      order.push(`${name} in`);
      await new Promise((resolve) => void setImmediate(resolve));
      order.push(`${name} out`);
    };
    await Promise.all([withLock(path, work("a")), withLock(path, work("b"))]);
    expect([order.slice(0, 2), order.slice(2)].toSorted()).toEqual([
      ["a in", "a out"],
      ["b in", "b out"],
    ]);
    expect(existsSync(path)).toBe(false);
  });

  test("one whose process was killed is taken over", async () => {
    const dead = spawnSync(process.execPath, ["-e", "0"]).pid;
    file("dist/.lock", String(dead));
    await expect(withLock(join(folder, "dist", ".lock"), async () => "mine")).resolves.toBe("mine");
  });
});

describe("installing the binary", () => {
  test("replaces the old one whole, with the right mode, and leaves no draft", () => {
    file("svc", "new");
    file("prefix/bin/svc", "old");
    placeBinary(join(folder, "svc"), join(folder, "prefix/bin/svc"));
    const listing = spawnSync("ls", ["-l", join(folder, "prefix/bin")], { encoding: "utf8" }).stdout;
    expect(listing).toMatch(/^-rwxr-xr-x.* svc$/mu);
    expect(listing).not.toContain(".new");
  });

  test("a prefix that cannot be is a sentence and 73", () => {
    file("svc", "new");
    file("prefix/bin", "a file where the directory should be");
    const place = () => placeBinary(join(folder, "svc"), join(folder, "prefix/bin/svc"));
    expect(place).toThrow(expect.objectContaining({ exitCode: 73, message: expect.stringContaining("--prefix") }));
  });
});
