/** Nothing outlives its command: what hid from its group, its session and its environment ends too. */
import { spawnSync } from "node:child_process";
import { createReadStream, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type Check, demand, outcomeOf } from "../../check.ts";
import { type Opened, openIn, said } from "./open.ts";
import { perl } from "./perl.ts";
import type { SandboxBench } from "./subject.ts";

export function lifetimeChecks(bench: SandboxBench): Check[] {
  const check = (name: string, run: (opened: Opened) => Promise<void>): Check => ({
    name,
    async run() {
      await using opened = await openIn(bench, "confined", { limits: { timeoutSecs: 1000 } });
      await run(opened);
    },
  });
  return [
    check("what is left in the background ends with its command, however it hid", async (opened) => {
      const held = holding(opened, "pipe");
      const result = await opened.perl(`${HIDE} exit 7`, ["pipe"]);
      demand(result.exitCode === 7, said(result));
      demand(await held.isGone(), "a process lives on that made a session of its own and cleared its environment");
    }),
    check("a time-out ends the whole tree, and is told", async (opened) => {
      const held = holding(opened, "pipe");
      const running = opened.exec({
        command: perl(opened.world.workspace, `$SIG{TERM} = "IGNORE"; ${HIDE} spit("up"); sleep 60`, ["pipe"]),
        timeoutMs: 50_000,
      });
      await file(opened, "up");
      await opened.clock.advance(50_000);
      await opened.clock.advance(10_000);
      const result = await running;
      demand(result.timedOut, said(result));
      demand(await held.isGone(), "a process outlives the time-out");
    }),
    check("the configured time-out holds when the caller asks for a longer one", async (opened) => {
      const running = opened.exec({ command: "echo up > up; sleep 60", timeoutMs: 5_000_000 });
      await file(opened, "up");
      await opened.clock.advance(1_000_000);
      await opened.clock.advance(10_000);
      demand((await running).timedOut, "it ran on");
    }),
    check("an abort ends the tree and rejects with its reason", async (opened) => {
      const held = holding(opened, "pipe");
      const caller = new AbortController();
      const running = outcomeOf(
        () =>
          opened.session.exec({
            command: perl(opened.world.workspace, `${HIDE} spit("up"); sleep 60`, ["pipe"]),
            signal: caller.signal,
          }),
        20_000,
      );
      await file(opened, "up");
      caller.abort(new Error("cancelled by the test"));
      await opened.clock.advance(10_000);
      const outcome = await running;
      demand(
        outcome.kind === "rejected" && String(outcome.error).includes("cancelled by the test"),
        `it ${outcome.kind}`,
      );
      demand(await held.isGone(), "a process outlives the abort");
    }),
    check("close() ends what runs and refuses what comes", async (opened) => {
      const held = holding(opened, "pipe");
      const running = outcomeOf(
        () => opened.session.exec({ command: perl(opened.world.workspace, `${HIDE} spit("up"); sleep 60`, ["pipe"]) }),
        20_000,
      );
      await file(opened, "up");
      const closing = opened.session.close();
      await opened.clock.advance(10_000);
      await closing;
      demand((await running).kind === "rejected", "the command goes on after close()");
      demand(await held.isGone(), "a process outlives close()");
      const late = await outcomeOf(() => opened.session.exec({ command: "true" }));
      demand(late.kind === "rejected", "a closed session takes a command");
      await opened.session.close();
    }),
    {
      name: "sessions at once do not see each other beyond the workspace they share",
      run: () => concurrent(bench),
    },
  ];
}

/**
 * A grandchild in a session of its own, without an environment and deaf to signals, that holds the named pipe of @ARGV[0] open.
 * It execs: /proc/<pid>/environ shows what a program started with. It says that it is there in a file.
 */
const HIDE = `if (!fork) { syscall(${process.arch === "arm64" ? 157 : 112});
  if (!fork) { open(STDIN, "<", "/dev/null"); open(STDERR, ">", "/dev/null"); open(STDOUT, ">", $ARGV[0]) or exit 1; %ENV = ();
    exec "/bin/sh", "-c", "trap '' TERM HUP; PATH=/usr/bin:/bin; echo x > hidden; exec sleep 60" }
  exit 0 }
wait; select(undef, undef, undef, 0.01) until -s "hidden";`;

/** Outside, the reading end of a named pipe: it comes to its end when nobody holds the other one. */
function holding({ world }: Opened, name: string): { isGone(): Promise<boolean> } {
  const path = join(world.workspace, name);
  const { user } = world.confinement;
  const made = spawnSync("mkfifo", ["-m", "666", path], user ? { uid: user.uid, gid: user.gid } : {});
  demand(made.status === 0, "mkfifo(1) failed");
  const stream = createReadStream(path);
  const ended = new Promise<void>((resolve) => stream.once("close", resolve));
  stream.resume();
  return {
    async isGone() {
      const outcome = await outcomeOf(() => ended, LEFT_MS);
      // Nobody ever opened it: the reader is let go.
      if (outcome.kind === "hung") writeFileSync(path, "\n");
      stream.destroy();
      return outcome.kind === "resolved";
    },
  };
}

/** What is ended is gone in milliseconds; a process that was left holds its pipe for a minute. */
const LEFT_MS = 10_000;

/** Waits for a file that a command makes when it is ready. */
async function file({ world }: Opened, name: string): Promise<void> {
  const path = join(world.workspace, name);
  const outcome = await outcomeOf(async () => {
    while (!existsSync(path) || readFileSync(path, "utf8") === "") await pause(5);
  }, 120_000);
  demand(outcome.kind === "resolved", "the command never got going");
}

async function concurrent(bench: SandboxBench): Promise<void> {
  await using first = await openIn(bench, "confined");
  await using second = await openIn(bench, "confined");
  const running = outcomeOf(
    () =>
      first.session.exec({
        command: perl(
          first.world.workspace,
          `spit("/tmp/mine-$ARGV[0]"); spit("up"); select(undef, undef, undef, 0.01) until -e "done"; print "untouched"`,
          [first.world.secret],
        ),
      }),
    30_000,
  );
  await file(first, "up");
  const pid = pidOf(first.world.secret);
  const intruder = await second.perl(
    `kill 9, $ARGV[0]; print slurp("/proc/$ARGV[0]/environ"), slurp("/tmp/mine-$ARGV[1]"), slurp("$ARGV[2]/up")`,
    [String(pid), first.world.secret, first.world.workspace],
  );
  writeFileSync(join(first.world.workspace, "done"), "x");
  const outcome = await running;
  demand(
    outcome.kind === "resolved" && outcome.value.stdout.includes("untouched"),
    "one session killed the other's command",
  );
  demand(intruder.stdout === "", `one session reads the other's: ${said(intruder)}`);
}

/** The youngest process, as seen from outside of every namespace, whose command line ends with `word`. */
function pidOf(word: string): string {
  if (process.platform !== "linux") return spawnSync("pgrep", ["-f", "-n", word], { encoding: "utf8" }).stdout.trim();
  const read = (pid: string, file: string): string => {
    try {
      return readFileSync(join("/proc", pid, file), "latin1");
    } catch {
      return ""; // it has ended
    }
  };
  // proc_pid_stat(5): the 22nd field, the 20th behind the name.
  const startOf = (pid: string): number => Number(read(pid, "stat").split(") ").at(-1)?.split(" ")[19]);
  const [youngest] = readdirSync("/proc")
    .filter((pid) => /^\d+$/.test(pid) && read(pid, "cmdline").endsWith(`${word}\0`))
    .toSorted((a, b) => startOf(b) - startOf(a) || Number(b) - Number(a));
  demand(youngest !== undefined, "the command that runs is not in /proc");
  return youngest;
}
