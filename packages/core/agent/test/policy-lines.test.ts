// Command lines: what runs without asking, and every way of a line to run more than it seems to.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { judgeLine, type LineRules } from "../src/policy/command-line.ts";
import { parseLine } from "../src/policy/shell-syntax.ts";

const workspace = realpathSync(mkdtempSync(join(tmpdir(), "svc-lines-")));
mkdirSync(join(workspace, "sub"));
symlinkSync("/etc", join(workspace, "link"));
afterAll(() => rmSync(workspace, { recursive: true }));

function line(command: string, allowedCommands: string[], more: Partial<LineRules> = {}): "allow" | "ask" {
  const reason = judgeLine(command, { allowedCommands, forbiddenPaths: [], workspace, folder: ".", ...more });
  return reason === undefined ? "allow" : "ask";
}

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

describe("asks, although the words that can be seen are listed", () => {
  test.each([
    "echo $(id)",
    "echo `id`",
    'echo "$(id)"',
    'echo "`id`"',
    "echo $HOME",
    'echo "$HOME"',
    "echo ${x:=y}",
    "echo $((1+1))",
    "$cmd",
    "e$x",
    "'ec'ho$IFS",
    "echo $'x'",
    'echo $"x"',
    "X=1 echo",
    "PATH=. ls",
    "X=1",
    "x+=1 ls",
    "a[0]=1 ls",
    "l*",
    "l?",
    "l[s]",
    "~/ls",
    "{ls,-la}",
    "{ echo; }",
    "(echo)",
    "echo <(ls)",
    "echo >(ls)",
    "ls() { echo; }",
    "function ls",
    "echo <<EOF\nx\nEOF",
    "echo <<<x",
    "if echo; then echo; fi",
    "! echo",
    "while echo",
    "case x in",
    "[[ x ]]",
    "time ls",
    "echo &> x",
    "echo |& ls",
    "echo >& x",
    "echo 12>x",
    "echo '2'>x",
    "echo 1>&23",
    "echo >&$x",
    "echo {fd}>x",
    "echo <> ../x",
    "echo > ../x",
    "echo > /etc/passwd",
    "echo > ~/x",
    "echo > x*",
    "echo >| /tmp/x",
    "echo >",
    "> x",
    "< x",
    "echo < /etc/shadow",
    "echo > sub/../../x",
    "echo > ''",
    "cd sub && echo > x",
    "echo > link/x",
    "echo 'unclosed",
    'echo "unclosed',
    "echo \\",
    "echo a\\\nb",
    "ec\\\nho",
    'echo "a\\\nb"',
    "echo && ",
    "| echo",
    "echo ;; ls",
    "&& echo",
    "echo & & echo",
    "echo\u0000ls",
    "echo\rls",
    "echo 'a\rb'",
    "echo\u00A0x",
    "écho",
    "echo\u000Bls",
    "echo x\u001B[2K",
    "ls; rm x",
    "ls\nrm x",
    "ls & rm x",
    "ls | rm",
    "ls && rm",
    "ls || rm",
    "echo x # y\nrm z",
    "echo '\n'; rm",
    '"rm" x',
    "\\rm x",
    "eval ls",
    ". ./x",
    "exec ls",
    "command ls",
    "export PATH=.",
    "alias ls=rm",
    "trap ls EXIT",
    "set -x",
    "unset PATH",
    "test -v 'a[$(id)]'",
    "[ 'a[$(id)]' -eq 0 ]",
    "printf -v 'a[`id`]' x",
    `echo ${"x".repeat(20_000)}`,
  ])("%j", (command) => {
    const names = [
      "echo",
      "ls",
      "X=1",
      "test",
      "[",
      "printf",
      "cd",
      "écho",
      "~/ls",
      "l*",
      "",
      "time",
      "eval",
      "!",
      "export",
    ];
    expect(line(command, [...names, "command", "exec", "set", "unset", "trap", "alias", "."])).toBe("ask");
  });

  test("a redirection to a forbidden path, and one from a folder outside", () => {
    const rules = { forbiddenPaths: ["private"] };
    expect(line("echo > private/x", ["echo"], rules)).toBe("ask");
    expect(line("echo > x", ["echo"], { ...rules, folder: "private" })).toBe("ask");
    expect(line("echo > x", ["echo"], { ...rules, folder: "../.." })).toBe("ask");
    expect(line("echo > x", ["echo"], { ...rules, folder: "sub" })).toBe("allow");
  });
});

describe("interpreters and wrappers ask although they are listed", () => {
  test.each([
    "sh -c ls",
    "bash x",
    "/bin/sh -c ls",
    "env ls",
    "xargs ls",
    "python3 x",
    "python3.12 -c x",
    "node -e x",
    "perl -e x",
    "awk 1",
    "gawk 1",
    "ssh host ls",
    "sudo ls",
    "nohup ls",
    "timeout 1 ls",
    "nice ls",
    "busybox sh",
    "make",
    "npm test",
    "npx x",
    "vi x",
    "less x",
    "parallel ls",
    "setsid ls",
    "docker run x",
    "BASH -c ls",
    "ruby3.3 x",
    "lua5.4 x",
    "find . -exec rm {} +",
    "find . -delete",
    "find . -ok ls",
    "find . -fprintf x y",
    "find *",
    "find . -execdir ls",
    "tar xf a --to-command=sh",
    "tar xf a --to-c=sh",
    "tar cf a --checkpoint-action=exec=sh b",
    "tar xf host:a",
    "tar -I sh -xf a",
    "tar x*",
    "sed -e s/a/b/e x",
    "sed 's/a/b/w out' x",
    "sed 1e x",
    "sed -f x y",
    "sed -i s/a/b/ x",
    "sed '1w x' y",
    "sed 's/a/b/;1e' x",
    "sed --expression=1e x",
    "sed -n 1p -e 1e x",
    "sed 's/a/b\n1e/' x",
    "git -c alias.x=!sh x",
    "git x",
    "git --exec-path=. status",
    "git -C / status",
    "git clone -c core.sshCommand=x y",
    "git fetch --upload-pack=x y",
    "git fetch --upl=x y",
    "git clone -u x y",
    "git grep -Osh x",
    "git grep --open-files-in-pager=sh x",
    "git diff --ext-diff",
    "git clone 'ext::sh -c x'",
    "git bisect run sh",
    "git rebase -x sh",
    "git submodule foreach sh",
    "git config x y",
    "git difftool -x sh",
    "git push --receive-pack=sh",
    "git init --template=x",
    "git *",
    "sort --compress-program=sh x",
    "sort --comp=sh x",
    "split --filter=sh x",
    "rg --pre sh x",
    "fd -x sh",
    "fd -Hx sh",
    "wget --use-askpass=sh x",
    "zip -TT sh x y",
    "patch -i x",
    "sort *",
  ])("%j", (command) => expect(line(command, [command.split(" ")[0] as string])).toBe("ask"));

  test.each([
    ["find . -name '*.ts' -type f"],
    ["tar czf a.tgz src"],
    ["tar xf a -C sub"],
    ["sed -n 1,5p x"],
    ["sed -E 's/a(b)/\\1/g' x"],
    ["git --no-pager log --oneline -5"],
    ["git diff --stat HEAD~1".replace("~", "^")],
    ["git commit -m 'a -c b'"],
    ["git switch -c x"],
    ["sort -u x"],
    ["printf '%s\\n' x"],
    ["git add -A && git status"],
  ])("harmless use runs: %j", (command) => {
    expect(line(command, [command.split(" ")[0] as string])).toBe("allow");
  });
});

describe("the parser", () => {
  test("words and redirections as the shell sees them", () => {
    expect(parseLine(`a 'b'"c"\\d ''|e 2>&1 >f;g`)).toEqual({
      commands: [
        { words: [word("a"), word("bcd"), word("")], redirects: [] },
        { words: [word("e")], redirects: [word("f")] },
        { words: [word("g")], redirects: [] },
      ],
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
