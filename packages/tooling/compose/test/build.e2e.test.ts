// The binary is really one file that runs anywhere: alone in an empty folder, with nothing in its environment, the same
// bytes from two checkouts, deaf to NODE_OPTIONS, and never made when the bundle is not what the profile says.
import { execFile } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { build, isStale, type BuildResult } from "../src/index.ts";
import { compileAddon } from "./fixture/addon.ts";
import { makeWorkspace, type Workspace } from "./fixture/workspace.ts";

const run = promisify(execFile);

function populate(small: Workspace, addon: string | undefined): void {
  small.profile(
    "minimal",
    'summary = ""\nfeatures = ["tool-a", "tool-b"]\n[budget]\nbinary_mb = 200\njs_kb = 500\nentry_kb = 20',
  );
  small.feature("tool-a");
  small.feature("tool-b");
  small.feature("tool-c");
  const dependencies = { tiny: "1.0.0" };
  if (addon === undefined) small.feature("tool-native");
  else {
    small.feature("tool-native", {
      svc: { native: ["tiny"] },
      packageJson: { dependencies },
      code: 'import text from "tiny";\nif (text !== "native here") throw new Error("another addon");',
    });
    small.write(
      "node_modules/tiny/package.json",
      '{"name":"tiny","version":"1.0.0","license":"ISC","main":"index.js"}',
    );
    small.write("node_modules/tiny/index.js", 'module.exports = require("./build/Release/tiny.node");');
    mkdirSync(join(small.root, "node_modules/tiny/build/Release"), { recursive: true });
    copyFileSync(addon, join(small.root, "node_modules/tiny/build/Release/tiny.node"));
  }
  small.stranger("strangers/foo", "@acme/svc-foo", {
    code: `import { shared } from "@svc/contract";
import { shared as kit } from "@svc/kit";
import * as v from "valibot";
if (shared.of !== "contract" || kit.of !== "kit") throw new Error("not the workspace's");
v.parse(v.string(), "text");`,
    says: "stranger here",
  });
}

describe("a custom binary", () => {
  let first: Workspace;
  let second: Workspace;
  let empty: string;
  let built: BuildResult;
  let again: BuildResult;
  let alone: string;
  let addon: string | undefined;
  const request = { profile: "minimal", with: ["./strangers/foo", "tool-native"], without: ["tool-b"] };

  beforeAll(async () => {
    const scratch = mkdtempSync(join(tmpdir(), "svc-addon-"));
    addon = compileAddon(scratch);
    first = makeWorkspace();
    second = makeWorkspace();
    populate(first, addon);
    populate(second, addon);
    rmSync(scratch, { recursive: true });
    empty = mkdtempSync(join(tmpdir(), "svc-alone-"));
    built = await build({ ...request, root: first.root });
    again = await build({ ...request, root: second.root });
    alone = join(empty, "svc");
    copyFileSync(built.binary, alone);
    chmodSync(alone, 0o755);
    // Whatever it needed from its checkout is gone now.
    rmSync(join(first.root, "packages"), { recursive: true });
    rmSync(join(first.root, "strangers"), { recursive: true });
  });

  afterAll(() => {
    first?.[Symbol.dispose]();
    second?.[Symbol.dispose]();
    rmSync(empty, { recursive: true, force: true });
  });

  test("runs alone in an empty folder with an empty environment", async () => {
    const version = await run("env", ["-i", alone, "--version"], { cwd: empty });
    expect(version).toEqual({ stdout: "svc 1.2.3 (unknown)\n", stderr: "" });
    const { stdout } = await run("env", ["-i", alone], { cwd: empty });
    expect(JSON.parse(stdout)).toMatchObject({
      profile: "custom",
      catalogue: 5,
      said: [
        ["foo", "stranger here"],
        ["tool-a", "tool-a here"],
        ["tool-native", "tool-native here"],
      ],
    });
    expect(readdirSync(empty)).toEqual(["svc"]);
  });

  test("holds the page, its scripts under names that change with them", async () => {
    const { stdout } = await run("env", ["-i", alone, "page"], { cwd: empty });
    const files = JSON.parse(stdout) as { path: string; type: string; immutable: boolean; text: string }[];
    expect(files.map(({ path, type, immutable }) => [path, type, immutable])).toEqual([
      [expect.stringMatching(/^\/assets\/index-.{8}\.js$/), "text/javascript; charset=utf-8", true],
      ["/", "text/html; charset=utf-8", false],
    ]);
    expect(files[0]!.text).toContain("small page");
    expect(files[1]!.text).toContain(files[0]!.path);
    expect(built.record.page).toMatchObject({ files: 2, scriptGzipBytes: expect.any(Number) });
  });

  test("reads and writes several buffers at once, which Node's file system for binaries does not", async () => {
    const { stdout } = await run("env", ["-i", alone, "streams"], { cwd: empty });
    expect(JSON.parse(stdout)).toEqual({
      streamed: "one two three four",
      written: 5,
      read: [17, true],
      parts: ["NE\0", "", "Tw", "o three four\0\0"],
      refused: "ERR_INVALID_ARG_TYPE",
      failed: "EBADF",
      none: 0,
    });
  });

  test("is the same to the byte when built from another checkout", () => {
    expect(again.record.binary.sha256).toBe(built.record.binary.sha256);
    expect(again.record).toEqual(built.record);
  });

  test("holds no path of the machine", () => {
    const bytes = readFileSync(alone);
    for (const path of [first.root, second.root, process.cwd()]) expect(bytes.indexOf(path)).toBe(-1);
  });

  test("says what it is in build.json and svc.sha256", () => {
    const sum = createHash("sha256").update(readFileSync(alone)).digest("hex");
    expect(readFileSync(join(built.dir, "svc.sha256"), "utf8")).toBe(`${sum}  svc\n`);
    const record = JSON.parse(readFileSync(join(built.dir, "build.json"), "utf8")) as BuildResult["record"];
    expect(record).toMatchObject({
      version: "1.2.3",
      profile: "minimal",
      with: ["foo", "tool-native"],
      without: ["tool-b"],
      features: [{ id: "foo", package: "@acme/svc-foo", version: "1.0.0" }, { id: "tool-a" }, { id: "tool-native" }],
      core: ["contract", "kit"],
      binary: { sha256: sum },
      // Of a profile that was added to.
      budget: {},
    });
    expect(record.sbom.map(({ name }) => name)).toEqual([
      "node",
      "@acme/svc-foo",
      ...(addon ? ["tiny"] : []),
      "valibot",
    ]);
    expect(record.sbom.find(({ name }) => name === "valibot")).toMatchObject({ license: "MIT" });
    expect(record.js.entryBytes).toBeLessThan(2200);
  });

  test("maps a native addon out of itself", async ({ skip }) => {
    if (addon === undefined) skip("there is no C compiler to make an addon with");
    // The feature's module throws unless the addon answers; nothing of it is on the disk any more.
    rmSync(join(first.root, "node_modules/tiny"), { recursive: true, force: true });
    const { stdout } = await run("env", ["-i", alone], { cwd: empty });
    expect(stdout).toContain("tool-native here");
  });

  test("runs no code from NODE_OPTIONS", async () => {
    const evil = join(empty, "evil.cjs");
    writeFileSync(evil, 'console.log("evil ran"); process.exit(3);');
    try {
      const { stdout } = await run(alone, ["--version"], { env: { NODE_OPTIONS: `--require ${evil}` } });
      expect(stdout).toBe("svc 1.2.3 (unknown)\n");
    } finally {
      rmSync(evil);
    }
  });

  test("is not built again until something changes, and is when a byte of it is missing", async () => {
    const root = second.root;
    expect(await build({ ...request, root })).not.toHaveProperty("reason");
    expect(await isStale({ ...request, cwd: root }, root)).toEqual({ stale: false });
    second.write("strangers/foo/src/work.js", "export const create = () => ({ says: 'new' });\n");
    expect(await isStale(request, root)).toEqual({ stale: true, reason: "changed: features from outside" });
    second.write("apps/svc/src/extra.ts", "export {};\n");
    expect(await isStale(request, root)).toMatchObject({ reason: "changed: sources, features from outside" });
    writeFileSync(again.binary, "half");
    expect(await isStale(request, root)).toMatchObject({ reason: "the binary has changed since it was built" });
    expect(await isStale("minimal", root)).toEqual({ stale: true, reason: "not built yet" });
  });

  test("is not made when a package was smuggled in", async () => {
    second.feature("tool-b", { code: 'import "../../tool-c/src/index.ts";' });
    const smuggled = build({ profile: "minimal", root: second.root });
    await expect(smuggled).rejects.toThrow(/tool-c is not in the profile: .*tool-b\/src\/work\.js → /);
    expect(readdirSync(join(second.root, "dist"))).not.toContain("minimal");
  });

  test("leaves no temporary folder, and sweeps those of a build that was killed", async () => {
    const root = second.root;
    // No process has this id: Linux ends at 2^22.
    mkdirSync(join(root, "dist/.build-99999999-killed"));
    expect(readdirSync(join(root, "dist"))).toContain(".build-99999999-killed");
    const before = readFileSync(join(again.dir, "build.json"), "utf8");
    second.feature("tool-a", { code: 'import "not-installed";' });
    await expect(build({ ...request, root })).rejects.toMatchObject({ code: "BUNDLE_FAILED", exitCode: 65 });
    expect(readdirSync(join(root, "dist"))).toEqual(["custom"]);
    expect(readFileSync(join(again.dir, "build.json"), "utf8")).toBe(before);
  });
});
