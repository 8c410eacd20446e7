// setup.sh and the .mjs behind it, run as a person would: nothing may be written by --dry-run, wrong flags end with 64,
// and a machine without a usable Node gets a sentence instead of "command not found".
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "../checkout.mjs";

const setup = join(root, "setup.sh");
let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-faces-"));
  mkdirSync(join(folder, "home"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(args: string[], env: Record<string, string> = {}) {
  const home = join(folder, "home");
  const { status, stdout, stderr } = spawnSync("/bin/sh", [setup, ...args], {
    cwd: home,
    encoding: "utf8",
    env: { PATH: process.env["PATH"] ?? "", HOME: home, ...env },
  });
  return { status, stdout, stderr };
}

/** A PATH with the tools of setup.sh and one `node` that runs `script`, or none. */
function pathWithNode(name: string, script?: string): string {
  const bin = join(folder, name);
  mkdirSync(bin);
  writeFileSync(join(bin, "dirname"), '#!/bin/sh\nexec /usr/bin/dirname "$@"\n');
  if (script !== undefined) writeFileSync(join(bin, "node"), script);
  for (const file of readdirSync(bin)) chmodSync(join(bin, file), 0o755);
  return bin;
}

describe("setup.sh", () => {
  test("is valid for a plain POSIX shell", () => {
    expect(spawnSync("/bin/sh", ["-n", setup]).status).toBe(0);
  });

  test("--help has examples and ends with 0", () => {
    const { status, stdout } = run(["--help"]);
    expect(status).toBe(0);
    expect(stdout).toContain("Examples\n  ./setup.sh ");
  });

  test("wrong flags: 64, every one named, on stderr only", () => {
    const { status, stdout, stderr } = run(["--stadard", "--dry-rn"]);
    expect({ status, stdout }).toEqual({ status: 64, stdout: "" });
    expect(stderr).toContain("Did you mean --standard?");
    expect(stderr).toContain("Did you mean --dry-run?");
  });

  test("--dry-run prints the plan, from wherever it is called, and writes nothing", () => {
    const { status, stdout } = run(["--full", "--prefix", "here", "--dry-run"]);
    expect(status).toBe(0);
    expect(stdout).toContain("pnpm build full  ->  dist/full/svc");
    expect(stdout).toContain(join(folder, "home", "here", "bin", "svc"));
    expect(readdirSync(join(folder, "home"))).toEqual([]);
  });

  test("--dry-run --json is nothing but JSON", () => {
    const plan = JSON.parse(run(["--standard", "--dry-run", "--json"]).stdout);
    expect(plan).toMatchObject({ profile: "standard", binary: "dist/standard/svc" });
  });

  test("arguments with spaces and shell characters arrive whole", () => {
    const prefix = join(folder, "home", "a b$(touch oops)'\"");
    const plan = JSON.parse(run(["--prefix", prefix, "--dry-run", "--json"]).stdout);
    expect(plan.installsTo).toBe(join(prefix, "bin", "svc"));
    expect(readdirSync(join(folder, "home"))).toEqual([]);
  });

  test("falls back to the Node of an earlier set-up, and without any Node ends with 69 and says how to get one", () => {
    // A copy of the two files, so that there is no node_modules beside them.
    const bare = join(folder, "bare");
    mkdirSync(bare);
    spawnSync("cp", [setup, bare]);
    const alone = spawnSync("/bin/sh", [join(bare, "setup.sh")], {
      encoding: "utf8",
      env: { PATH: pathWithNode("none") },
    });
    expect(alone.status).toBe(69);
    expect(alone.stderr).toContain("Node 20 or newer is needed");
    const withEarlier = run(["--dry-run"], { PATH: join(folder, "none") });
    expect(withEarlier.status).toBe(0);
  });

  test("an old Node on PATH is passed over, not run into a syntax error", () => {
    // What Node 18 does with the question that setup.sh asks first: the answer is no.
    const path = pathWithNode("old", "#!/bin/sh\nexit 1\n");
    expect(run(["--dry-run"], { PATH: path }).status).toBe(0);
  });
});

test.each(["check", "test", "all"])(
  "a tier (%s) takes no arguments, so that nobody believes it ran one file",
  (tier) => {
    const { status, stderr } = spawnSync(
      process.execPath,
      [join(root, "packages/tooling/bootstrap/test.mjs"), tier, "some.test.ts"],
      {
        encoding: "utf8",
      },
    );
    expect(status).toBe(64);
    expect(stderr).toContain("npm run unit -- <file>");
  },
);
