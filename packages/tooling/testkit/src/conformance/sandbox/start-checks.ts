/** What a command gets: it starts as it was written, in its folder, with its files and nothing of the daemon's environment. */
import { existsSync, readFileSync, chmodSync, statSync, writeFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { ExecRequest, ExecResult } from "@svc/contract";
import { type Check, demand, outcomeOf, errorText } from "../../check.ts";
import { backendOf, type Opened, openIn, said } from "./open.ts";
import type { SandboxBench } from "./subject.ts";
import { makeWorld } from "./world.ts";

export function startChecks(bench: SandboxBench): Check[] {
  const { subject, who } = bench;
  const check = (name: string, run: (opened: Opened) => Promise<void>): Check => ({
    name,
    async run() {
      await using opened = await openIn(bench, "confined");
      await run(opened);
    },
  });
  return [
    {
      name: "its probe finds that it confines here, and says which limits it can't hold",
      run: () => probed(bench),
    },
    check("a program of the system runs, and one that lies in the workspace", async (opened) => {
      const result = await opened.exec({ command: ["ls", "-d", opened.world.workspace] });
      demand(result.exitCode === 0 && result.stdout === `${opened.world.workspace}\n`, said(result));
      await opened.perl("exit 0");
    }),
    check("a line runs in the shell: exit code, both streams, signal", async ({ exec }) => {
      const plain = await exec({ command: "echo out; echo err >&2; exit 3" });
      const { exitCode, stdout, stderr, signal, truncated, timedOut } = plain;
      demand(exitCode === 3 && stdout === "out\n" && stderr === "err\n" && signal === null, said(plain));
      demand(!truncated && !timedOut && plain.limit === undefined, said(plain));
      const killed = await exec({ command: "kill -SEGV $$; sleep 60" });
      demand(killed.signal === "SIGSEGV" || killed.exitCode === 139, `a signal's end is told: ${said(killed)}`);
    }),
    check("a program that is not there is said to be not there", async ({ exec }) => {
      const outcome = await outcomeOf(() => exec({ command: ["nowhere-to-be-found"] }));
      const refused = outcome.kind === "rejected" && (outcome.error as { code?: string }).code === "TOOL_BAD_INPUT";
      const failed = outcome.kind === "resolved" && outcome.value.exitCode === 127;
      demand(refused || failed, outcome.kind === "resolved" ? said(outcome.value) : errorText(outcome));
    }),
    check("arguments arrive exactly: spaces, newlines, $, quotes, nothing at all", async (opened) => {
      const words = ["a b", "", "line\nline", "$HOME `id` $(id)", "'\"\\", "*", "-x", "--", "é\u{1F600}", "a=b", "\t "];
      const result = await opened.perl(`print join "\\n", map { unpack "H*", $_ } @ARGV`, words);
      const arrived = result.stdout.split("\n").map((hex) => Buffer.from(hex, "hex").toString());
      demand(JSON.stringify(arrived) === JSON.stringify(words), `what arrived: ${JSON.stringify(arrived)}`);
      const line = await opened.exec({ command: "printf '%s|' 'a b' \"\\$x\" '\n'" });
      demand(line.stdout === "a b|$x|\n|", said(line));
    }),
    check("a NUL is refused, wherever it is", async ({ exec }) => {
      const requests: ExecRequest[] = [
        { command: "echo a\0b" },
        { command: ["echo", "a\0b"] },
        { command: ["ec\0ho"] },
        { command: "echo", cwd: "a\0b" },
      ];
      for (const request of requests) {
        const outcome = await outcomeOf(() => exec(request));
        const refused = outcome.kind === "rejected" && (outcome.error as { code?: string }).code === "TOOL_BAD_INPUT";
        demand(refused, `${JSON.stringify(request)} is not refused with TOOL_BAD_INPUT`);
      }
    }),
    check("its input arrives, a large one too, and without one there is an end", async ({ exec }) => {
      demand((await exec({ command: "cat", stdin: "héllo" })).stdout === "héllo", "input does not arrive");
      demand((await exec({ command: "cat" })).stdout === "", "without input there should be an end of file");
      const large = await exec({ command: "wc -c", stdin: "x".repeat(3_000_000) });
      demand(large.stdout.trim() === "3000000", said(large));
    }),
    check("it starts in the workspace, or the folder below it that was asked for", async ({ exec, world }) => {
      mkdirSync(join(world.workspace, "sub folder"), { mode: 0o755 });
      demand((await exec({ command: "pwd" })).stdout === `${world.workspace}\n`, "it starts elsewhere");
      const below = await exec({ command: "pwd", cwd: "sub folder" });
      demand(below.stdout === `${world.workspace}/sub folder\n`, said(below));
      const outcome = await outcomeOf(() => exec({ command: "pwd", cwd: "../.." }));
      demand(outcome.kind === "rejected", "a folder outside is taken");
    }),
    check(
      "the workspace is at its path: files go in and come out, and belong to whom commands run as",
      async (opened) => {
        const { workspace } = opened.world;
        writeFileSync(join(workspace, "in.txt"), "from outside");
        const result = await opened.exec({
          command: `cat '${workspace}/in.txt' && mkdir made && echo hello > made/out.txt`,
        });
        demand(result.exitCode === 0 && result.stdout === "from outside", said(result));
        demand(
          readFileSync(join(workspace, "made", "out.txt"), "utf8") === "hello\n",
          "what it wrote is not there outside",
        );
        const { uid } = statSync(join(workspace, "made", "out.txt"));
        const expected = who.user?.uid ?? process.getuid?.();
        demand(uid === expected, `its files belong to ${uid}, not to ${expected}`);
      },
    ),
    {
      name: "a workspace in a folder that nobody but the daemon may enter works all the same",
      async run() {
        await using opened = await openIn(bench, "confined");
        chmodSync(opened.world.home, 0o700);
        const result = await opened.exec({ command: "pwd && echo hello > out.txt && ls out.txt" });
        demand(result.exitCode === 0 && existsSync(join(opened.world.workspace, "out.txt")), said(result));
      },
    },
    check("devices, a temporary folder and a home of its own", async ({ exec, world }) => {
      const result = await exec({
        command:
          'head -c 4 /dev/urandom | wc -c && echo x > /dev/null && t=$(mktemp) && echo y > "$t" && rm "$t" && echo "$HOME"',
      });
      demand(result.exitCode === 0 && result.stdout.trim().endsWith(world.workspace), said(result));
    }),
    check("it is whom it should be, and no more: no capability, no way to one", async (opened) => {
      if (process.platform !== "linux") return;
      const result = await opened.perl(`print slurp("/proc/self/status")`);
      const of = (name: string): string => new RegExp(`^${name}:[ \\t]*(.*)$`, "m").exec(result.stdout)?.[1] ?? "";
      for (const name of ["CapEff", "CapPrm", "CapInh", "CapAmb"])
        demand(/^0+$/.test(of(name)), `${name} is ${of(name)}`);
      demand(of("NoNewPrivs") === "1", "a set-user-id program would gain privileges");
      if (!who.user) return;
      const groups = of("Groups").trim();
      demand(groups === "" || groups === String(who.user.gid), `it keeps the daemon's groups: ${groups}`);
    }),
    check("nothing of the daemon's environment", async (opened) => {
      const result = await opened.perl(
        `print join("\\0", %ENV), "\\0\\n"; print slurp("$_/environ"), "\\0" for glob "/proc/[0-9]*"`,
      );
      const names = Object.keys(process.env).filter((name) => !INSIDE.has(name));
      const leaked = names.find((name) => result.stdout.includes(`\0${name}=`) || result.stdout.includes(`${name}\0`));
      demand(leaked === undefined, `it sees the daemon's variable ${leaked}`);
      const env = await opened.perl(`print join "\\n", sort keys %ENV`);
      const unknown = env.stdout.split("\n").filter((name) => name !== "" && !INSIDE.has(name));
      demand(unknown.length === 0, `it sees ${unknown.join(", ")}`);
    }),
    check("output is capped per stream, and that is said", async ({ exec }) => {
      const result = await exec({
        command: "head -c 50000 /dev/zero | tr '\\0' x; echo short >&2",
        maxOutputBytes: 1000,
      });
      demand(result.stdout.length === 1000 && result.truncated && result.stderr === "short\n", said(result));
      demand(result.exitCode === 0, `a program with much to say can finish: ${said(result)}`);
      demand(
        !(await exec({ command: "printf 12345", maxOutputBytes: 5 })).truncated,
        "nothing was cut, and it says so",
      );
    }),
    ...(subject.ownSystem ? [] : [check("programs of the system find their libraries", usualPrograms)]),
  ];
}

/** Set by the sandboxes, or by a shell for itself. */
const INSIDE = new Set(
  [
    "HOME LANG PATH PWD OLDPWD SHLVL TERM SVC_EXEC_ID TMPDIR USER LOGNAME SHELL HOSTNAME container _",
    "GIT_CONFIG_NOSYSTEM GIT_ATTR_NOSYSTEM",
  ].flatMap((names) => names.split(" ")),
);

const GIT = `git init -q repository && cd repository && echo text > file && git add file && git status --short &&
  git -c user.name=n -c user.email=e@example.org commit -q -m first && git log --oneline && git clone -q . ../copy && rm -rf ../copy ../repository`;

async function usualPrograms({ exec }: Opened): Promise<void> {
  const programs = ["sort --version", "sed --version", "tar --version", "grep --version", "perl -e 'use POSIX'"];
  // It reads settings of the machine: a sandbox may hide them, and must not make it fail.
  if (existsSync("/usr/bin/git")) programs.push(GIT);
  for (const command of programs) {
    const result: ExecResult = await exec({ command });
    demand(result.exitCode === 0, `${command}: ${said(result)}`);
  }
}

async function probed(bench: SandboxBench): Promise<void> {
  using world = makeWorld(bench.who, { limits: { memoryMb: 256, cpuSecs: 60, pids: 64 } });
  const { backend, shutdown } = await backendOf(bench);
  try {
    const probe = await backend.probe(world.confinement, new AbortController().signal);
    demand(probe.available, `it is not available: ${probe.available || probe.reason}`);
    const declared = bench.subject.unenforced?.(bench.who) ?? [];
    demand(
      JSON.stringify([...probe.unenforced].toSorted()) === JSON.stringify([...declared].toSorted()),
      `it can't hold ${JSON.stringify(probe.unenforced)}; its package says ${JSON.stringify(declared)}`,
    );
  } finally {
    await shutdown();
  }
}
