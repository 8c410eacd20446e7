// What a lasting yes covers: the same call, and nothing that a model could put in its place.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as v from "valibot";
import { afterAll, describe, expect, test } from "vitest";
import { defineTool, type Tool } from "@svc/contract";
import { type AlwaysRule, isAlwaysAllowed, approvalScopeOf } from "../src/policy/approval-scope.ts";
import { parseLine } from "../src/policy/shell-syntax.ts";

const workspace = realpathSync(mkdtempSync(join(tmpdir(), "svc-lasting-")));
afterAll(() => rmSync(workspace, { recursive: true }));
mkdirSync(join(workspace, "sub"));
writeFileSync(join(workspace, "tool"), "#!/bin/sh\n", { mode: 0o755 });

const place = { agent: "default", workspace, forbiddenPaths: ["private"] };
const tool = (name: string, more: Partial<Tool>): Tool =>
  defineTool({ name, description: "", input: v.any(), approval: "ask", run: async () => null, ...more });

const shell = tool("shell", {
  commandLine: (input) => (input as { command: string }).command,
  commandFolder: (input) => (input as { cwd?: string }).cwd,
  lasting: {},
});
const writer = tool("file_write", { lasting: { free: ["content"] } });
const sender = tool("channel_send", { lasting: {} });

const line = (command: string, more: object = {}) => approvalScopeOf(shell, { command, ...more }, place);
const ruleOf = (which: Tool, input: object): AlwaysRule => {
  const { always } = approvalScopeOf(which, input, place);
  if (!always) throw new Error("No rule is offered.");
  return always.rule;
};
/** Whether a rule for the first line covers the second. */
const covers = (approved: string, asked: string, more: object = {}): boolean =>
  isAlwaysAllowed([ruleOf(shell, { command: approved })], shell, { command: asked, ...more }, place);

describe("a rule for a command line", () => {
  test.each([
    ["git status --short", "git   status  --short"],
    ["git status --short", "git 'status' \"--short\""],
    ["git status --short", "  git status --short  # what changed"],
    ["ls sub | wc -l", "ls sub|wc -l"],
    ["echo done > out.txt", "echo done >out.txt"],
  ])("%s covers %s, which is the same line", (approved, asked) => {
    expect(covers(approved, asked)).toBe(true);
  });

  test.each([
    // More of it.
    ["git status", "git status --short"],
    ["ls", "ls sub"],
    ["ls sub", "ls"],
    ["ls sub", "ls sub sub"],
    ["ls", "ls; rm -r sub"],
    ["ls", "ls && rm -r sub"],
    ["ls", "ls | tee out.txt"],
    ["ls", "ls\nrm -r sub"],
    ["ls", "ls &"],
    ["ls | wc -l", "ls || wc -l"],
    ["ls | wc -l", "ls; wc -l"],
    ["ls && wc -l", "ls || wc -l"],
    // Quotes.
    ["echo a b", "echo 'a b'"],
    ["echo 'a b'", "echo a b"],
    ["echo 'a'' b'", "echo 'a' b"],
    ["echo '*'", "echo *"],
    ["echo '~'", "echo ~"],
    ["echo \\*", "echo *"],
    ["echo '$HOME'", "echo $HOME"],
    ["echo '$(id)'", "echo $(id)"],
    ["echo '`id`'", "echo `id`"],
    ["echo '>' out.txt", "echo > out.txt"],
    ["echo ';' ls", "echo ; ls"],
    ["echo '#' x", "echo # x"],
    ["echo ''", "echo"],
    // Redirections.
    ["echo x", "echo x > out.txt"],
    ["echo x > out.txt", "echo x >> out.txt"],
    ["echo x > out.txt", "echo x > sub/out.txt"],
    ["echo x > out.txt", "echo x 2> out.txt"],
    ["echo 2 > out.txt", "echo 2> out.txt"],
    ["echo x > out.txt", "echo > out.txt x y"],
    // Patterns of file names.
    ["ls sub", "ls s*"],
    ["ls sub", "ls su?"],
    ["ls sub", "ls {sub,.}"],
    ["ls sub", "ls [s]ub"],
    // Variables before the program.
    ["ls sub", "PATH=. ls sub"],
    ["ls sub", "LD_PRELOAD=./x.so ls sub"],
    ["ls sub", "env ls sub"],
    ["ls sub", "'A=b' ls sub"],
    // Other programs that look alike.
    ["ls sub", "/bin/ls sub"],
    ["ls sub", "./ls sub"],
    ["ls sub", "LS sub"],
    ["ls sub", "l\\\ns sub"],
    // Other paths to what may be the same file.
    ["ls sub", "ls ./sub"],
    ["ls sub", "ls sub/"],
    ["ls sub", "ls sub/../sub"],
    ["cat sub/a", "cat sub//a"],
    // Characters that look alike, or show nothing.
    ["echo 'a'", "echo 'а'"],
    ["echo 'é'", "echo 'e\u0301'"],
    ["echo 'a b'", "echo 'a\u00a0b'"],
    ["echo 'ab'", "echo 'a\u200bb'"],
    ["echo 'ab'", "echo 'a\u202eb'"],
    ["echo 'ab'", "echo 'a\u0000b'"],
    ["echo 'ab'", "echo 'ab\r'"],
    ["ls sub", "ls\u00a0sub"],
    ["ls sub", "ls\u3000sub"],
  ])("%j does not cover %j", (approved, asked) => {
    expect(covers(approved, asked)).toBe(false);
  });

  test("holds for its folder, its other arguments, its tool and its agent only", () => {
    expect(covers("ls sub", "ls sub", { cwd: "sub" })).toBe(false);
    expect(covers("ls sub", "ls sub", { cwd: "." })).toBe(true);
    expect(covers("ls sub", "ls sub", { timeout_secs: 5 })).toBe(false);
    const rule = ruleOf(shell, { command: "ls sub", timeout_secs: 5, cwd: "sub" });
    expect(isAlwaysAllowed([rule], shell, { cwd: "sub", timeout_secs: 5, command: "ls sub" }, place)).toBe(true);
    expect(
      isAlwaysAllowed([rule], shell, { cwd: "sub", timeout_secs: 5, command: "ls sub" }, { ...place, agent: "b" }),
    ).toBe(false);
    const other = tool("other", { commandLine: shell.commandLine!, commandFolder: shell.commandFolder!, lasting: {} });
    expect(isAlwaysAllowed([rule], other, { cwd: "sub", timeout_secs: 5, command: "ls sub" }, place)).toBe(false);
  });

  test.each([
    "python3 x.py",
    "sh -c ls",
    "bash x.sh",
    "env ls",
    "xargs rm",
    "sudo ls",
    "nohup ls",
    "timeout 5 ls",
    "find . -exec ls {} +",
    "find . -delete",
    "make",
    "npm test",
    "ssh host ls",
    "vi notes.md",
    "ls *.md",
    "ls ~",
    "ls $HOME",
    "ls $(id)",
    "ls `id`",
    "A=b ls",
    "if true; then ls; fi",
    "(ls)",
    "{ ls; }",
    "! ls",
    "eval ls",
    ". x.sh",
    "'eval' ls",
    "./tool",
    "sub/../tool",
    `${workspace}/tool`,
    "/usr/bin/../../tmp/x",
    "/usr/bin/env ls",
    "/usr/bin/..",
    "/proc/self/cwd/tool",
    "/tmp/x",
    "echo x > /etc/passwd",
    "echo x > ../x",
    "echo x > .git/config",
    "echo x > private/x",
    "cat <<E\nx\nE",
    "ls > out.txt 2>&1 &>x",
    "echo 'a\nb'",
    "echo 'a\u202eb'",
    "echo 'a\u200bb'",
    "echo '\u{e0041}'",
    "echo '\u3164'",
    "tar -xf x --to-command=sh",
    "sort --compress-program=sh x",
    "",
    "# nothing",
    `echo ${"a".repeat(3_000)}`,
  ])("is not offered for %j", (command) => {
    const { always, conversation, reason } = line(command);
    expect({ always, conversation }).toEqual({ always: undefined, conversation: undefined });
    expect(reason).toMatch(/\.$/);
  });

  test("is looked at again with each call: what it writes to may have become a link meanwhile", () => {
    const rule = ruleOf(shell, { command: "echo x > out.log" });
    const asked = { command: "echo x > out.log" };
    expect(isAlwaysAllowed([rule], shell, asked, place)).toBe(true);
    symlinkSync("/etc/passwd", join(workspace, "out.log"));
    expect(isAlwaysAllowed([rule], shell, asked, place)).toBe(false);
    rmSync(join(workspace, "out.log"));
  });

  test("that was written by hand is held to the same", () => {
    for (const command of ["python3 x.py", "ls *", "*", "", "sh -c 'ls'", "ls; ls $(id)"]) {
      const rule = { agent: "default", tool: "shell", command };
      expect(isAlwaysAllowed([rule], shell, { command }, place)).toBe(false);
    }
    const noCommand = { agent: "default", tool: "shell" };
    expect(isAlwaysAllowed([noCommand], shell, { command: "ls" }, place)).toBe(false);
    expect(isAlwaysAllowed([{ ...noCommand, input: '{"command":"ls"}' }], shell, { command: "ls" }, place)).toBe(false);
  });

  test("shows all that has to be equal", () => {
    expect(line("git status", { cwd: "sub", timeout_secs: 5 }).always?.text).toBe(
      'shell: git status in sub with {"timeout_secs":5}',
    );
  });
});

describe("a rule for another tool", () => {
  test("covers the same arguments in any order, and no others", () => {
    const message = { channel: "chat", to: "room", text: "hi", files: [] as string[] };
    const rule = ruleOf(sender, message);
    const { text, ...rest } = message;
    expect(isAlwaysAllowed([rule], sender, { text, ...rest }, place)).toBe(true);
    for (const other of [
      { ...message, text: "hi!" },
      { ...message, to: "room2" },
      { ...message, to: ["room"] },
      { ...message, files: ["a"] },
      { ...message, extra: null },
      rest,
    ]) {
      expect(isAlwaysAllowed([rule], sender, other, place)).toBe(false);
    }
  });

  test("is not offered where the tool does not say that its arguments tell all", () => {
    const { always, conversation } = approvalScopeOf(tool("click", {}), { x: 1, y: 2 }, place);
    expect([always, conversation]).toEqual([undefined, undefined]);
    const rule = { agent: "default", tool: "click", input: '{"x":1,"y":2}' };
    expect(isAlwaysAllowed([rule], tool("click", {}), { x: 1, y: 2 }, place)).toBe(false);
  });

  test("of a file covers any content for the conversation, of that path and mode alone, and never for always", () => {
    const key = (path: string, mode: string, content: string) =>
      approvalScopeOf(writer, { path, mode, content }, place).conversation?.key;
    const { always, conversation } = approvalScopeOf(writer, { path: "a.md", mode: "replace", content: "x" }, place);
    expect(always).toBeUndefined();
    expect(conversation?.text).toBe('file_write {"mode":"replace","path":"a.md"}, any content');
    expect(key("a.md", "replace", "y\n\u202e")).toBe(conversation?.key);
    for (const path of ["./a.md", "A.md", "a.md/", "sub/../a.md", "a.md\u200b", "а.md", "sub/a.md"]) {
      expect(key(path, "replace", "x")).not.toBe(conversation?.key);
    }
    expect(key("a.md", "append", "x")).not.toBe(conversation?.key);
    expect(
      isAlwaysAllowed(
        [{ agent: "default", tool: "file_write", input: '{"mode":"replace","path":"a.md"}' }],
        writer,
        { path: "a.md", mode: "replace", content: "x" },
        place,
      ),
    ).toBe(false);
  });
});

test("two lines with one canonical form have the same words, operators and redirections", () => {
  const parsed = (text: string) => {
    const found = parseLine(text);
    return "unclear" in found ? undefined : found.canonical;
  };
  expect(parsed("a 'b c'|d>e")).toBe('"a" "b c" | "d" > "e"');
  expect(parsed("a 2>&1")).toBe('"a" 2>& "1"');
  expect(parsed("a '2>&' 1")).not.toBe(parsed("a 2>&1"));
  expect(parsed('a "|" b')).not.toBe(parsed("a | b"));
  expect(parsed("a '\"' b")).not.toBe(parsed('a "\\"" "" b'));
});
