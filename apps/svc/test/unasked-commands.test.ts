// Listed git commands that were a way to any program: one wrote settings into the workspace, which was the home folder, and the next
// one ran the programs that they name.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { requireReal } from "@svc/testkit/require-real";
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { homeWith } from "./daemon.ts";

const LISTED = `
[security.policy]
allowed_commands = ["git log", "git diff", "git status", "ls", "echo"]
[security.sandbox]
backend = "none"
`;

test("git writes no settings unasked, and finds none that lie in the workspace", async (context) => {
  if (spawnSync("git", ["--version"]).status !== 0) {
    requireReal(context, { name: "git", reason: "git is not on PATH; apt-get install git" });
  }
  using home = homeWith(LISTED);
  const workspace = join(home.path, "workspace");
  mkdirSync(workspace);
  const git = (...args: string[]): void => {
    const identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"];
    expect(spawnSync("git", [...identity, ...args], { cwd: workspace }).status).toBe(0);
  };
  git("init", "--quiet");
  writeFileSync(join(workspace, "a.txt"), "one\n");
  git("add", "a.txt");
  // What the log says is what the written file holds.
  git("commit", "--quiet", "-m", "[diff]\nexternal = touch ran-unasked;\n");
  writeFileSync(join(workspace, "a.txt"), "two\n");
  const shell = async (command: string): Promise<{ ok: boolean; output: unknown }> => {
    const input = JSON.stringify({ command });
    const { stdout } = await runBinary(["tools", "run", "shell", "--json", "--input", input], { home: home.path });
    return JSON.parse(stdout) as never;
  };
  const refused = { ok: false, output: expect.stringContaining("TOOL_REFUSED") };

  expect(await shell("git log --format=%B --output=.gitconfig")).toMatchObject(refused);
  expect(await shell("echo '[diff] external = ./x' > .gitconfig")).toMatchObject(refused);
  expect(existsSync(join(workspace, ".gitconfig"))).toBe(false);

  writeFileSync(join(workspace, ".gitconfig"), "[diff]\n\texternal = touch ran-unasked;\n");
  const diff = { ok: true, output: { exit_code: 0, stdout: expect.stringContaining("+two") } };
  expect(await shell("git diff")).toMatchObject(diff);
  expect(existsSync(join(workspace, "ran-unasked"))).toBe(false);

  const config = join(workspace, ".git/config");
  writeFileSync(config, `${readFileSync(config, "utf8")}[diff]\n\texternal = touch ran-unasked;\n`);
  expect(await shell("git diff")).toMatchObject(refused);
  expect(existsSync(join(workspace, "ran-unasked"))).toBe(false);
});
