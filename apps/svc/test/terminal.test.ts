// svc chat at a real terminal: a tool call that must be asked for is asked there, and only a yes is a yes.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { expect, test } from "vitest";
import { atTerminal, needScript } from "./at-terminal.ts";

const COMMAND = '/tool shell {"command":"echo acted > proof"}';

test("yes runs the command", async (context) => {
  needScript(context);
  using home = temporaryHome();
  const { screen } = await atTerminal(home.path, "chat", [
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
  const { screen } = await atTerminal(home.path, "chat", [
    ["> ", `${COMMAND}\n`],
    ["[y/N] ", "\n"],
    ["A person rejected", "still there?\n"],
    ["built-in model", "\x04"],
  ]);
  expect(screen).toContain("still there?");
  expect(existsSync(join(home.path, "workspace/proof"))).toBe(false);
});

test("escape sequences of a model do not reach the terminal", async (context) => {
  needScript(context);
  using home = temporaryHome();
  const { screen } = await atTerminal(home.path, `chat -m "$(printf 'a\\033]0;owned\\007b')"`, []);
  expect(screen).not.toContain("\x1b]0;");
  expect(screen).toContain("owned");
});

test("help is coloured at a terminal, and plain where NO_COLOR is set", async (context) => {
  needScript(context);
  using home = temporaryHome();
  const [coloured, plain] = [
    await atTerminal(home.path, "--help", []),
    await atTerminal(home.path, "--help", [], { NO_COLOR: "1" }),
  ];
  expect(coloured.screen).toContain("\x1b[1mUsage:");
  expect(plain.screen).toContain("Usage:");
  expect(plain.screen).not.toContain("\x1b");
});

test.for([
  ["leaves at the question", "[y/N] ", "\x04", "A person rejected", false],
  ["leaves while the command runs", "[y/N] ", "y\n\x04", "exit_code", true],
] as const)("who %s has the answer to the end, and no stack", async ([_who, prompt, typed, told, acted], context) => {
  needScript(context);
  using home = temporaryHome();
  const { screen } = await atTerminal(home.path, "chat", [
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
  const { screen: named } = await atTerminal(home.path, `chat -m "$(printf '/tool \\033]0;owned\\007b {}')"`, []);
  expect(named).not.toContain("\x1b]0;");
  writeFileSync(join(home.path, "workspace/notes"), "a\u009b2Jb\u007f");
  for (const flag of ["", "--json"]) {
    const { screen: read } = await atTerminal(home.path, `tools run file_read ${flag} --input '{"path":"notes"}'`, []);
    expect(read).toContain("2Jb");
    expect(read).not.toMatch(/[\u007f-\u009f]/);
  }
});
