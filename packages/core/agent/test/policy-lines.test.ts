// Command lines that run without asking: what an entry of allowed_commands means, and how a line is read.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseLine } from "../src/policy/shell-syntax.ts";
import { openLines } from "./lines.ts";

const { line, workspace } = openLines();

describe("entries of allowed_commands", () => {
  test.each([
    ["git status", ["git status"], "allow"],
    ["git status --short", ["git status"], "allow"],
    ["git  'status'", ["git status"], "allow"],
    ["git push", ["git status"], "ask"],
    ["git", ["git status"], "ask"],
    ["gitstatus", ["git status"], "ask"],
    ["/usr/bin/ls", ["ls"], "ask"],
    ["/usr/bin/ls", ["/usr/bin/ls"], "allow"],
    ["ls", ["/usr/bin/ls"], "ask"],
    ["./build.sh", ["./build.sh"], "ask"],
    ["bin/ls", ["bin/ls"], "ask"],
    ["LS", ["ls"], "ask"],
    ["", ["ls"], "ask"],
    ["# only a comment", ["ls"], "ask"],
    ["ls", ["", "  "], "ask"],
    ["'' x", [""], "ask"],
  ] as const)("%j with %j: %s", (command, allowed, expected) => {
    expect(line(command, [...allowed])).toBe(expected);
  });
});

describe("a line of listed commands runs", () => {
  test.each([
    "ls -la src",
    "ls 'a b' \"c d\" e\\ f",
    "ls *.ts | wc -l",
    "ls && echo done || echo failed; echo after &",
    "echo one\necho two # comment; rm x\n\n",
    "echo 'a $(rm) `b` $c'",
    'echo "costs \\$5 \\`x\\` \\\\"',
    "echo héllo | wc".replace("héllo", "'héllo'"),
    "ls |\n  wc -l",
    "ls \\\n  -la",
    "echo hi > out.txt 2>&1",
    "echo hi >> sub/out.txt </dev/null 2>/dev/null",
    "wc -l < in.txt",
    "echo a#b",
    `echo hi > ${workspace}/x`,
    "[ -f x ] && echo yes",
  ])("%j", (command) => expect(line(command, ["ls", "wc", "echo", "["])).toBe("allow"));
});

describe("the parser", () => {
  test("words and redirections as the shell sees them", () => {
    expect(parseLine(`a 'b'"c"\\d ''|e 2>&1 >f;g`)).toEqual({
      commands: [
        { words: [word("a"), word("bcd"), word("")], redirects: [] },
        { words: [word("e")], redirects: [word("f")] },
        { words: [word("g")], redirects: [] },
      ],
      canonical: '"a" "bcd" "" | "e" 2>& "1" > "f" ; "g"',
    });
  });
  const word = (text: string) => ({ text, glob: false, tilde: false });

  test("never throws, whatever it is given", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(parseLine(text)).toBeTypeOf("object");
      }),
    );
  });
});
