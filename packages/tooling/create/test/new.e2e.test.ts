// `pnpm new` promises that what it makes passes at once. Here it makes one of each kind in a copy of this workspace, and
// everything that judges a package judges it: linking, types, lint, format, checks and the package's own tests.
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const SOURCE = join(import.meta.dirname, "../../../..");
const MADE = [
  ["feature", "sample-stats", "sample-stats"],
  ["channel", "sample-pager", "channel-sample-pager"],
  ["tool", "a", "tool-a"],
  ["tool", "sample-with-quite-a-long-name-of-its-own", "tool-sample-with-quite-a-long-name-of-its-own"],
] as const;
const FOLDERS = MADE.map(([, , id]) => `packages/features/${id}`);

let root = "";

beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "svc-new-")));
  const listing = execFileSync("git", ["ls-files", "-z", "-co", "--exclude-standard"], {
    cwd: SOURCE,
    encoding: "utf8",
  });
  for (const file of listing.split("\0").filter((path) => path !== "" && existsSync(join(SOURCE, path)))) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    cpSync(join(SOURCE, file), join(root, file));
  }
  succeed("git", ["init", "--quiet"]);
  succeed(join(SOURCE, "node_modules/.bin/pnpm"), ["install", "--offline", "--frozen-lockfile=false"]);
});

afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));

interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(program: string, args: readonly string[]): Outcome {
  const env = { ...process.env, PATH: `${join(root, "node_modules/.bin")}:${process.env["PATH"]}`, CI: "1" };
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: root, env, encoding: "utf8", maxBuffer: 1 << 26 });
  return { status, stdout, stderr };
}

function succeed(program: string, args: readonly string[]): string {
  const { status, stdout, stderr } = run(program, args);
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${status}\n${stdout}${stderr}`);
  return stdout;
}

const tool = (name: string): string => join(root, "node_modules/.bin", name);
const pnpmNew = (...args: string[]): Outcome =>
  run(process.execPath, [join(root, "packages/tooling/create/src/cli.ts"), ...args]);
const folders = (): string[] => readdirSync(join(root, "packages/features")).toSorted();

describe("pnpm new", () => {
  test("shows what it would write, and writes nothing", () => {
    const before = folders();
    const { status, stdout } = pnpmNew("tool", "sample", "--dry-run");
    expect(status).toBe(0);
    expect(stdout).toContain("Would write packages/features/tool-sample:\n");
    expect(folders()).toEqual(before);
  });

  test.each([
    [["tol", "x"], "Did you mean tool?"],
    [["tool", "Word_Count"], 'Did you mean "word-count"?'],
    [["tool", "x", "--dryrun"], "There is no such option. Did you mean --dry-run?"],
  ])("%j ends with 64 and says what was meant", (args, message) => {
    const { status, stderr } = pnpmNew(...args);
    expect(status).toBe(64);
    expect(stderr).toContain(message);
  });

  test("--help shows examples", () => {
    const { status, stdout } = pnpmNew("--help");
    expect(status).toBe(0);
    expect(stdout).toContain("pnpm new tool word-count");
  });

  test.each(MADE)("%s %s makes packages/features/%s, linked", (kind, name, id) => {
    expect(pnpmNew(kind, name)).toMatchObject({ status: 0, stderr: "" });
    expect(existsSync(join(root, "packages/features", id, "node_modules/@svc/contract"))).toBe(true);
    expect(existsSync(join(root, "packages/features", id, "node_modules/@svc/testkit"))).toBe(true);
  });

  test("a second one of the same name is refused, and the first stays as it is", () => {
    const file = join(root, "packages/features/tool-a/src/index.ts");
    const before = readFileSync(file, "utf8");
    const { status, stderr } = pnpmNew("tool", "a");
    expect(status).toBe(64);
    expect(stderr).toContain("packages/features/tool-a exists already.");
    expect(readFileSync(file, "utf8")).toBe(before);
    expect(folders().filter((name) => name.startsWith("."))).toEqual([]);
  });
});

describe("a plugin", () => {
  test("builds where it was made, without a download, and git knows nothing of it", () => {
    const { status, stdout } = pnpmNew("plugin", "sample-greeter");
    expect(status).toBe(0);
    const commands = stdout.split("\n").filter((line) => line.startsWith("  node ") || line.startsWith("  svc "));
    expect(commands).toEqual([
      "  node plugins/sample-greeter/build.mjs",
      "  svc plugin install plugins/sample-greeter",
    ]);
    expect(succeed(process.execPath, ["plugins/sample-greeter/build.mjs"])).toMatch(/^plugin\.wasm {2}[0-9a-f]{64}\n$/);
    expect(succeed("git", ["status", "--short", "--untracked-files=all", "plugins"])).toBe("");
  });

  test("a second one of the same name is refused, and the first stays as it is", () => {
    const before = readFileSync(join(root, "plugins/sample-greeter/plugin.toml"), "utf8");
    expect(before).not.toContain("0".repeat(64));
    expect(pnpmNew("plugin", "sample-greeter")).toMatchObject({ status: 64 });
    expect(readFileSync(join(root, "plugins/sample-greeter/plugin.toml"), "utf8")).toBe(before);
  });
});

describe("what it made passes at once", () => {
  test("types", () => {
    for (const args of [["-b"], ["-p", "tsconfig.tests.json"]]) {
      const { status, stdout } = run(tool("tsc"), args);
      expect(stdout).toBe("");
      expect(status).toBe(0);
    }
  });

  test("lint and format", () => {
    expect(run(tool("oxlint"), ["--deny-warnings", ...FOLDERS])).toMatchObject({ status: 0 });
    expect(run(tool("oxfmt"), ["--check", ...FOLDERS])).toMatchObject({ status: 0 });
  });

  test("its own tests, the conformance suites among them", () => {
    const report = join(root, "report.json");
    const reporters = ["--reporter=json", `--outputFile=${report}`];
    const { status, stdout } = run(tool("vitest"), ["run", "--project", "unit", ...reporters, ...FOLDERS]);
    expect({ status, stdout }).toMatchObject({ status: 0 });
    const { numPassedTests, numTotalTests, testResults } = JSON.parse(readFileSync(report, "utf8")) as {
      numPassedTests: number;
      numTotalTests: number;
      testResults: { assertionResults: unknown[] }[];
    };
    expect(testResults).toHaveLength(MADE.length);
    expect(Math.min(...testResults.map(({ assertionResults }) => assertionResults.length))).toBeGreaterThan(10);
    expect(numPassedTests).toBe(numTotalTests);
  });

  test("the checks of the fixture", () => {
    const { stdout } = run(process.execPath, [join(root, "packages/tooling/checks/src/cli.ts"), "--json"]);
    const { checks } = JSON.parse(stdout) as {
      checks: { id: string; problems: { file: string; message: string }[] }[];
    };
    expect(checks.length).toBeGreaterThan(10);
    const about = checks
      .flatMap(({ problems }) => problems)
      .filter(({ file }) => /^(?:packages\/features|profiles|docs)\b/.test(file));
    expect(
      about.filter(({ file }) => !file.startsWith("packages/features/") || FOLDERS.some((one) => file.startsWith(one))),
    ).toEqual([]);
  });

  test("the composer reads them", () => {
    const compose = join(root, "packages/tooling/compose/src/index.ts");
    const script = `import { readCatalogue } from ${JSON.stringify(compose)}; console.log([...readCatalogue().features.keys()].join());`;
    const ids = succeed(process.execPath, ["--input-type=module-typescript", "--eval", script]).trim().split(",");
    for (const [, , id] of MADE) expect(ids).toContain(id);
  });
});
