// The promise of the README, for real: a machine that has only Node and npm, a fresh home, this source, and ./setup.sh.
// Twice in a row, because the second run must find everything done, and with --prefix.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { requireReal } from "@svc/testkit/require-real";
import { afterAll, beforeAll, expect, test, type TestContext } from "vitest";
import { root } from "../checkout.mjs";

const longestMs = 20 * 60_000;
let folder = "";
let clone = "";
let home = "";
/** Why the first run could not be made, when that is not the set-up's fault. */
let noRegistry = false;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-fresh-"));
  clone = join(folder, "checkout");
  home = join(folder, "home");
  mkdirSync(home);
  writeFileSync(join(folder, "gitconfig"), "[safe]\n\tdirectory = *\n");
  git(["clone", "--quiet", root, clone], folder);
  copyWorkingTree();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function git(args: string[], cwd: string): string {
  // The checkout may belong to another user than the one who runs the tests: what serves the clone reads files alone.
  const env = { ...process.env, GIT_CONFIG_GLOBAL: join(folder, "gitconfig") };
  const { status, stdout, stderr } = spawnSync("git", args, { cwd, encoding: "utf8", env });
  if (status !== 0) throw new Error(`git ${args[0]}: ${stderr}`);
  return stdout;
}

/** What is being tested is what is on disk, committed or not. */
function copyWorkingTree(): void {
  const list = (...args: string[]) =>
    git(["ls-files", "-z", ...args], root)
      .split("\0")
      .filter(Boolean);
  for (const file of list("--deleted")) rmSync(join(clone, file), { force: true });
  for (const file of list("--modified", "--others", "--exclude-standard")) {
    if (existsSync(join(root, file))) cpSync(join(root, file), join(clone, file));
  }
}

/** Only what a login shell would have, and what this machine needs to reach its registry. */
function freshEnv(): Record<string, string> {
  const path = (process.env["PATH"] ?? "").split(delimiter).filter((dir) => !dir.includes("node_modules"));
  const network =
    /^(?:https?_proxy|no_proxy|npm_config_(?:registry|cafile|userconfig|globalconfig)|node_extra_ca_certs|ssl_cert_file)$/iu;
  const kept = Object.entries(process.env).filter(([name]) => network.test(name));
  return { ...(Object.fromEntries(kept) as Record<string, string>), PATH: path.join(delimiter), HOME: home };
}

function requireRegistry(context: TestContext): void {
  if (noRegistry) requireReal(context, { name: "the package registry", reason: "it could not be reached" });
}

function setup(...args: string[]) {
  const { status, stdout, stderr } = spawnSync("/bin/sh", ["setup.sh", ...args], {
    cwd: clone,
    env: freshEnv(),
    encoding: "utf8",
    timeout: longestMs,
  });
  return { status, stdout, stderr };
}

test(
  "a fresh checkout in a fresh home builds, and writes nothing but caches into the home",
  { timeout: longestMs },
  (context) => {
    const { status, stdout, stderr } = setup("--minimal");
    noRegistry = status === 69 && stderr.includes("registry could not be reached");
    requireRegistry(context);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toContain("packages: installed");
    expect(stdout).toContain("build minimal: built");
    const binary = join(clone, "dist", "minimal", "svc");
    const version = spawnSync(binary, ["--version"], { env: {}, encoding: "utf8" });
    expect(version.status).toBe(0);
    expect(version.stdout).toMatch(/\d+\.\d+\.\d+/u);
    const caches = new Set([".cache", ".config", ".local", ".npm"]);
    expect(readdirSync(home).filter((name) => !caches.has(name))).toEqual([]);
    // Nothing in the sources may have been touched either.
    expect(
      git(["status", "--porcelain", "--ignored"], clone).match(
        /^!! (?!.*(?:node_modules|dist|\.gen|\.turbo|\.tsc)).*/gmu,
      ),
    ).toBeNull();
  },
);

test("the second run finds everything done", { timeout: longestMs }, (context) => {
  requireRegistry(context);
  const { status, stdout } = setup("--minimal");
  expect(status).toBe(0);
  expect(stdout).toContain("packages: up to date");
  expect(stdout).toContain("build minimal: up to date");
});

test("--prefix installs the binary, and it runs from there without the checkout", { timeout: longestMs }, (context) => {
  requireRegistry(context);
  const prefix = join(folder, "prefix with space");
  const { status, stdout } = setup("--minimal", "--prefix", prefix);
  const installed = join(prefix, "bin", "svc");
  expect(status).toBe(0);
  expect(stdout).toContain(`installed: ${installed}`);
  expect(readdirSync(join(prefix, "bin"))).toEqual(["svc"]);
  expect(statSync(installed).mode & 0o777).toBe(0o755);
  rmSync(clone, { recursive: true });
  expect(spawnSync(installed, ["--version"], { env: {}, encoding: "utf8" }).status).toBe(0);
});
