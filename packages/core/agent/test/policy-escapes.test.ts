// Every way of a command line to run, read or write more than its words seem to.
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openLines } from "./lines.ts";

const { line, workspace } = openLines();

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

  test("a redirection to a hidden file, by its name, its folder or a link", () => {
    mkdirSync(join(workspace, ".git"));
    symlinkSync(".git", join(workspace, "plain"));
    for (const target of [".gitconfig", ".git/config", "sub/.npmrc", `${workspace}/.git/config`, "plain/config"]) {
      expect([target, line(`echo x > ${target}`, ["echo"])]).toEqual([target, "ask"]);
    }
    expect(line("echo x > config", ["echo"], { folder: ".git" })).toBe("ask");
    expect(line("echo x > ./config", ["echo"])).toBe("allow");
  });
});
