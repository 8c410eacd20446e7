// svc chat at a real terminal: a tool call that must be asked for is asked there, and only a yes is a yes.
import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { binaryPath, requireReal, temporaryHome } from "@svc/testkit";
import { expect, test, type TestContext } from "vitest";

const SCRIPT = "/usr/bin/script";

/** Types each answer when its prompt has been seen; resolves with everything that was on the screen. */
function atTerminal(
  home: string,
  words: string,
  exchange: readonly (readonly [prompt: string, typed: string])[],
): Promise<string> {
  const child = spawn(SCRIPT, ["-qefc", `${binaryPath()} ${words}`, "/dev/null"], {
    env: { PATH: process.env["PATH"], SVC_HOME: home, TERM: "xterm" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  let screen = "";
  let seen = 0;
  const waiting = [...exchange];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    screen += text;
    for (let next = waiting[0]; next && screen.indexOf(next[0], seen) >= 0; next = waiting[0]) {
      seen = screen.indexOf(next[0], seen) + next[0].length;
      child.stdin.write(next[1]);
      waiting.shift();
    }
  });
  return new Promise((resolve) => child.once("close", () => resolve(screen)));
}

function needScript(context: TestContext): void {
  if (!existsSync(SCRIPT))
    requireReal(context, { name: "script", reason: "no /usr/bin/script; apt-get install bsdutils" });
}

const COMMAND = '/tool shell {"command":"echo acted > proof"}';

test("yes runs the command", async (context) => {
  needScript(context);
  using home = temporaryHome();
  const screen = await atTerminal(home.path, "chat", [
    ["> ", `${COMMAND}\n`],
    ["[y/N] ", "y\n"],
    ["exit_code", "\x04"],
  ]);
  expect(screen).toContain("shell …");
  expect(existsSync(join(home.path, "workspace/proof"))).toBe(true);
});

test("anything else does not, and the conversation goes on", async (context) => {
  needScript(context);
  using home = temporaryHome();
  const screen = await atTerminal(home.path, "chat", [
    ["> ", `${COMMAND}\n`],
    ["[y/N] ", "\n"],
    ["The person refused", "still there?\n"],
    ["built-in model", "\x04"],
  ]);
  expect(screen).toContain("still there?");
  expect(existsSync(join(home.path, "workspace/proof"))).toBe(false);
});

test("escape sequences of a model do not reach the terminal", async (context) => {
  needScript(context);
  using home = temporaryHome();
  const screen = await atTerminal(home.path, `chat -m "$(printf 'a\\033]0;owned\\007b')"`, []);
  expect(screen).not.toContain("\x1b]0;");
  expect(screen).toContain("owned");
});

test.for([
  ["leaves at the question", "[y/N] ", "\x04", "The person refused", false],
  ["leaves while the command runs", "[y/N] ", "y\n\x04", "exit_code", true],
] as const)("who %s has the answer to the end, and no stack", async ([_who, prompt, typed, told, acted], context) => {
  needScript(context);
  using home = temporaryHome();
  const screen = await atTerminal(home.path, "chat", [
    ["> ", `${COMMAND}\n`],
    [prompt, typed],
  ]);
  expect(screen).toContain(told);
  expect(screen).not.toMatch(/\n\s+at |unsettled/);
  expect(existsSync(join(home.path, "workspace/proof"))).toBe(acted);
});

test("neither do those in the name of a tool, nor DEL and C1 in what a tool read", async (context) => {
  needScript(context);
  using home = temporaryHome();
  const named = await atTerminal(home.path, `chat -m "$(printf '/tool \\033]0;owned\\007b {}')"`, []);
  expect(named).not.toContain("\x1b]0;");
  writeFileSync(join(home.path, "workspace/notes"), "a\u009b2Jb\u007f");
  for (const flag of ["", "--json"]) {
    const read = await atTerminal(home.path, `tools run file_read ${flag} --input '{"path":"notes"}'`, []);
    expect(read).toContain("2Jb");
    expect(read).not.toMatch(/[\u007f-\u009f]/);
  }
});
