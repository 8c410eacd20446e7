// setup.bat under wine 10 with the real Windows node.exe: cmd's own parsing of %*, %~dp0 and errorlevels, which no reading
// of the file can show. The tree comes from wine/prepare.sh (1.1 GB); where it is not there, this is a counted skip.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { requireReal } from "@svc/testkit/require-real";
import { describe, expect, test, type TestContext } from "vitest";
import { root } from "../checkout.mjs";

const here = join(root, "packages/tooling/bootstrap/wine");
const tree = process.env["SVC_WINE_ROOT"] ?? join(root, "node_modules/.cache/svc/wine");

function requireWine(context: TestContext): void {
  const name = "wine 10 with the Windows node.exe";
  const prepared = existsSync(join(tree, ".ready"));
  if (!prepared) {
    requireReal(context, {
      name,
      reason: "packages/tooling/bootstrap/wine/prepare.sh gets it (root, 2 GB)",
      tier: "B",
    });
  }
  if (process.getuid?.() !== 0) requireReal(context, { name, reason: "its mounts need root", tier: "B" });
}

function bat(args: string[], env: Record<string, string> = {}) {
  const { status, stdout } = spawnSync(join(here, "run-bat.sh"), [tree, root, "setup.bat", ...args], {
    encoding: "utf8",
    env: { ...process.env, ...env },
  });
  return { status, lines: stdout.split(/\r?\n/u).map((line) => line.trim()) };
}

test("setup.bat has the line ends that cmd.exe needs", () => {
  const text = readFileSync(join(root, "setup.bat"), "utf8");
  expect(
    text
      .split("\n")
      .slice(0, -1)
      .every((line) => line.endsWith("\r")),
  ).toBe(true);
});

describe("setup.bat under wine", () => {
  test("--dry-run prints the plan of a Windows machine", (context) => {
    requireWine(context);
    const { status, lines } = bat(["--standard", "--dry-run"]);
    expect(status).toBe(0);
    expect(lines).toContain("2. build     pnpm build standard  ->  dist/standard/svc.exe");
    expect(lines.join("\n")).not.toContain("libatomic");
  });

  test("a prefix with a drive, and lists with commas, arrive whole", (context) => {
    requireWine(context);
    const args = ["--full", "--with", "tool-files,tool-shell", "--prefix", "C:\\tools", "--dry-run"];
    const { status, lines } = bat(args);
    expect(status).toBe(0);
    expect(lines.join("\n")).toContain("pnpm build full --with tool-files,tool-shell");
    expect(lines.join("\n")).toContain("C:\\tools\\bin\\svc.exe");
  });

  test("wrong flags: 64 and what was meant", (context) => {
    requireWine(context);
    const { status, lines } = bat(["--ful"]);
    expect(status).toBe(64);
    expect(lines[0]).toBe('Unknown argument "--ful". Did you mean --full?');
  });

  test("without node.exe: 69 and how to get it", (context) => {
    requireWine(context);
    const { status, lines } = bat(["--dry-run"], { SVC_WINE_WITHOUT_NODE: "1" });
    expect(status).toBe(69);
    expect(lines[0]).toContain("Node 20 or newer is needed");
  });
});
