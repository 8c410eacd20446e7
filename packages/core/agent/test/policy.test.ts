// Which calls run, ask or are refused (behaviour page, section 6), and every way of a command line to run more than it
// seems to.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import * as v from "valibot";
import { afterAll, describe, expect, test } from "vitest";
import { type Approval, defineTool, type Tool } from "@svc/contract";
import { createPolicy, type PolicyOptions } from "../src/policy/index.ts";
import { parseLine } from "../src/policy/shell-syntax.ts";

const workspace = realpathSync(mkdtempSync(join(tmpdir(), "svc-policy-")));
afterAll(() => rmSync(workspace, { recursive: true }));

const tool = (name: string, approval: Tool["approval"], more: Partial<Tool> = {}): Tool =>
  defineTool({ name, description: "", input: v.any(), approval, run: async () => null, ...more });

const reader = tool("file_read", "auto");
const writer = tool("file_write", "ask");
const fetcher = tool("http_get", (input) => ((input as { body?: string }).body === undefined ? "auto" : "ask"));
const shell = tool("shell", "ask", {
  commandLine: (input) => (input as { command: string }).command,
  commandFolder: (input) => (input as { cwd?: string }).cwd,
});

interface Setting {
  policy?: Partial<PolicyOptions["policy"]>;
  disabled?: string[];
  sandbox?: Partial<PolicyOptions["sandbox"]>;
  now?: () => number;
}

function policyOf({ policy, disabled = [], sandbox, now = () => 0 }: Setting = {}) {
  return createPolicy({
    policy: {
      autonomy: "supervised",
      allowed_commands: [],
      workspace_only: true,
      forbidden_paths: [],
      max_actions_per_hour: 0,
      ...policy,
    },
    disabledTools: disabled,
    sandbox: { effective: "fsrestrict", chosenNone: false, ...sandbox },
    workspace,
    clock: { monotonic: now },
  });
}

const judged = (setting: Setting, which: Tool, input: unknown = {}) => policyOf(setting).judge(which, input);
const verdict = (setting: Setting, which: Tool, input: unknown = {}) => judged(setting, which, input).verdict;
const line = (command: string, allowed: string[], setting: Setting = {}, cwd?: string) =>
  verdict({ ...setting, policy: { allowed_commands: allowed, ...setting.policy } }, shell, { command, cwd });

describe("autonomy", () => {
  test.each([
    ["read_only", reader, {}, "allow"],
    ["read_only", writer, {}, "refuse"],
    ["read_only", fetcher, {}, "allow"],
    ["read_only", fetcher, { body: "x" }, "refuse"],
    ["read_only", shell, { command: "true" }, "refuse"],
    ["supervised", reader, {}, "allow"],
    ["supervised", writer, {}, "ask"],
    ["supervised", fetcher, { body: "x" }, "ask"],
    ["supervised", shell, { command: "true" }, "ask"],
    ["full", writer, {}, "allow"],
    ["full", fetcher, { body: "x" }, "allow"],
    ["full", shell, { command: "true" }, "ask"],
  ] as const)("%s: %o with %o: %s", (autonomy, which, input, expected) => {
    expect(verdict({ policy: { autonomy } }, which, input)).toBe(expected);
  });

  test.each(["supervised", "full"] as const)("%s: a listed command runs, an unlisted one asks", (autonomy) => {
    expect(line("true", ["true"], { policy: { autonomy, allowed_commands: ["true"] } })).toBe("allow");
    expect(line("false", ["true"], { policy: { autonomy, allowed_commands: ["true"] } })).toBe("ask");
  });

  test("read_only refuses listed commands too", () => {
    expect(line("true", [], { policy: { autonomy: "read_only", allowed_commands: ["*"] } })).toBe("refuse");
  });

  test("a tool that runs a command line acts, even if it says auto; one that fails to answer acts too", () => {
    const liar = tool("liar", "auto", { commandLine: () => "true" });
    const broken = tool("broken", (): Approval => {
      throw new Error("broken");
    });
    const mute = tool("mute", "ask", {
      commandLine: () => {
        throw new Error("broken");
      },
    });
    expect([verdict({}, liar), verdict({}, broken)]).toEqual(["ask", "ask"]);
    expect(verdict({ policy: { allowed_commands: ["true"] } }, mute)).toBe("ask");
  });
});

test("a disabled tool is refused, whatever it does", () => {
  const policy = policyOf({ policy: { autonomy: "full" }, disabled: ["file_read", "file_write"] });
  for (const which of [reader, writer]) {
    expect(policy.judge(which, {})).toMatchObject({ verdict: "refuse", rule: "tools.disabled" });
  }
});

describe("without a sandbox", () => {
  const none = { effective: "none", chosenNone: false };
  test("shell asks, even at full and with *", () => {
    expect(line("true", ["*"], { policy: { autonomy: "full", allowed_commands: ["*"] }, sandbox: none })).toBe("ask");
  });
  test("unless the config chose none", () => {
    const chosen = { effective: "none", chosenNone: true };
    expect(line("true", ["true"], { sandbox: chosen })).toBe("allow");
    expect(line("anything $(at all)", ["*"], { sandbox: chosen })).toBe("allow");
  });
  test("other tools are not concerned", () => {
    expect(verdict({ policy: { autonomy: "full" }, sandbox: none }, writer)).toBe("allow");
  });
});

describe("max_actions_per_hour", () => {
  test("slides, counts only calls that run, and says when the next is possible", () => {
    let nowMs = 0;
    const policy = policyOf({ policy: { autonomy: "full", max_actions_per_hour: 2 }, now: () => nowMs });
    const act = () => policy.judge(writer, {});
    expect(policy.judge(reader, {}).verdict).toBe("allow");
    expect(act().verdict).toBe("allow");
    nowMs = 1_800_000;
    expect(act().verdict).toBe("allow");
    expect(act()).toMatchObject({
      rule: "security.policy.max_actions_per_hour",
      reason: expect.stringContaining("30 min"),
    });
    expect(policy.judge(reader, {}).verdict).toBe("allow");
    nowMs = 3_599_999;
    expect(act().verdict).toBe("refuse");
    nowMs = 3_600_000;
    expect(act().verdict).toBe("allow");
    expect(act().verdict).toBe("refuse");
  });

  test("an asked call counts when it is confirmed, and a late yes can't pass the limit", () => {
    const policy = policyOf({ policy: { max_actions_per_hour: 1 } });
    expect(policy.judge(writer, {}).verdict).toBe("ask");
    expect(policy.judge(writer, {}).verdict).toBe("ask");
    policy.recordAction(writer);
    expect(() => policy.recordAction(writer)).toThrow(expect.objectContaining({ code: "TOOL_REFUSED" }));
    expect(policy.judge(writer, {}).verdict).toBe("refuse");
  });
});

test("no verdict quotes what was asked for", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 4 }), (text) => {
      const marked = `zq${text}qz`;
      expect(
        JSON.stringify(judged({ policy: { allowed_commands: ["ls"] } }, shell, { command: marked })),
      ).not.toContain(marked);
    }),
  );
});

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
    mkdirSync(join(workspace, "sub"), { recursive: true });
    try {
      symlinkSync("/etc", join(workspace, "link"));
    } catch {
      // there since the case before
    }
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
    const setting = { policy: { allowed_commands: ["echo"], forbidden_paths: ["private"] } };
    expect(line("echo > private/x", ["echo"], setting)).toBe("ask");
    expect(line("echo > x", ["echo"], setting, "private")).toBe("ask");
    expect(line("echo > x", ["echo"], setting, "../..")).toBe("ask");
    expect(line("echo > x", ["echo"], setting, "sub")).toBe("allow");
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

  test("* lifts even that", () => expect(line("sh -c 'anything $(x)' > /etc/x", ["ls", "*"])).toBe("allow"));
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
