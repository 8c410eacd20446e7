// The child that is kept waiting must serve one command of its daemon, under exactly that command's rules, and outlive neither.
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "vitest";
import type { Confinement } from "@svc/contract";
import { findGroupMaker } from "@svc/kit/process";
import type { FakeClock } from "@svc/testkit/fake-clock";
import { childCommand } from "./child-command.ts";
import { markOf } from "../src/marks.ts";
import { openBackend, type OpenedBackend } from "./open-backend.ts";

/** Process ids of children of `parent` that wait for a request, or are about to. */
const waitingOf = (parent: number): number[] => childrenOf(parent, (cmdline) => cmdline.includes(childCommand[1]!));

const childrenOf = (parent: number, isMeant: (cmdline: string) => boolean): number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const parentOf = /^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
        return isMeant(readFileSync(`/proc/${pid}/cmdline`, "utf8")) && Number(parentOf) === parent;
      } catch {
        return false;
      }
    });

/** Process ids of the shells that wait for the end of `parent`. */
const sweepersOf = (parent: number): number[] =>
  childrenOf(parent, (cmdline) => cmdline.split("\0").includes("svc-sweeper"));

const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}/exe`);

/** With a clock, time goes on there meanwhile. */
async function until(what: () => boolean, clock?: FakeClock): Promise<void> {
  for (let tries = 0; tries < 6_000; tries += 1) {
    if (what()) return;
    await clock?.advance(100);
    await pause(10);
  }
  throw new Error("it never came to that");
}

/** After a command that has ended. */
async function warmed(): Promise<OpenedBackend & { readonly waiting: number }> {
  // Those of the test before may not have come to their end yet.
  await until(() => waitingOf(process.pid).length === 0);
  const opened = openBackend();
  const session = await opened.backend.open(opened.confinement);
  expect(await session.exec({ command: "exit 69" })).toMatchObject({ exitCode: 69 });
  await session.close();
  return { ...opened, waiting: await nextOf(opened) };
}

/** The one that waits, restricted already: it has its mark. */
async function nextOf({ clock }: OpenedBackend): Promise<number> {
  await until(() => waitingOf(process.pid).some((pid) => markOf(pid) > 0), clock);
  const [waiting, ...more] = waitingOf(process.pid);
  expect(more).toEqual([]);
  return waiting!;
}

describe("the child that waits", () => {
  test("becomes the next command, and another one takes its place", async () => {
    await using opened = await warmed();
    const session = await opened.backend.open(opened.confinement);
    const { stdout } = await session.exec({ command: "echo $$" });
    expect(Number(stdout)).toBe(opened.waiting);
    await session.close();
    expect(await nextOf(opened)).not.toBe(opened.waiting);
  });

  test("ends when no command came for a while, and with the feature; so does the sweeper", async () => {
    await using opened = await warmed();
    expect(sweepersOf(process.pid)).toHaveLength(1);
    await opened.clock.advance(300_000);
    await until(() => !isAlive(opened.waiting) && sweepersOf(process.pid).length === 0);
    await using other = await warmed();
    expect(sweepersOf(process.pid)).toHaveLength(1);
    await other.shutdown();
    await until(() => !isAlive(other.waiting) && sweepersOf(process.pid).length === 0);
    expect(waitingOf(process.pid)).toEqual([]);
  });

  test("is there from the first command on, not from the probe", async () => {
    await until(() => waitingOf(process.pid).length === 0 && sweepersOf(process.pid).length === 0);
    await using opened = openBackend();
    expect(await opened.backend.probe(opened.confinement, new AbortController().signal)).toMatchObject({
      available: true,
    });
    await opened.clock.advance(1_000);
    expect(waitingOf(process.pid)).toEqual([]);
    await until(() => sweepersOf(process.pid).length === 0);
  });

  test("is restricted before it has a command", async () => {
    await using opened = await warmed();
    const status = readFileSync(`/proc/${opened.waiting}/status`, "utf8");
    expect(status).toMatch(/^Seccomp:\s+2$/m);
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
    expect(status).toMatch(/^CapEff:\s+0{16}$/m);
    expect(status).toMatch(/^CapPrm:\s+0{16}$/m);
    expect(readFileSync(`/proc/${opened.waiting}/limits`, "utf8")).toMatch(/^Max core file size\s+0\s+0/m);
    expect(readlinkSync(`/proc/${opened.waiting}/ns/mnt`)).not.toBe(readlinkSync("/proc/self/ns/mnt"));
  });

  test.each([
    ["another network", { network: true }],
    ["one more folder", { readable: ["/var/log"] }],
    ["another limit", { limits: { cpuSecs: 60 } }],
  ])("is not used for %s, and ends when another one waits", async (_name, asked) => {
    await using opened = await warmed();
    const session = await opened.backend.open({ ...opened.confinement, ...asked });
    const { stdout } = await session.exec({ command: "echo $$" });
    expect(Number(stdout)).not.toBe(opened.waiting);
    await session.close();
    await until(() => !isAlive(opened.waiting), opened.clock);
    expect(await nextOf(opened)).not.toBe(opened.waiting);
  });

  test("is not used for a workspace that is another folder by now", async () => {
    await using opened = await warmed();
    const { workspace } = opened.confinement;
    renameSync(workspace, `${workspace}-moved`);
    mkdirSync(workspace);
    writeFileSync(join(workspace, "which"), "new");
    const session = await opened.backend.open(opened.confinement);
    const { stdout } = await session.exec({ command: `echo $$; cat which; cat ${workspace}-moved/which` });
    expect(stdout.split("\n")[0]).not.toBe(String(opened.waiting));
    expect(stdout.split("\n")[1]).toBe("new");
    await session.close();
  });

  test("is not used after something was mounted: it would see that without the rules of its view", async () => {
    await using opened = await warmed();
    opened.mount();
    const session = await opened.backend.open(opened.confinement);
    const { stdout } = await session.exec({ command: "echo $$" });
    expect(Number(stdout)).not.toBe(opened.waiting);
    await session.close();
  });

  test("has a temporary folder of its own, which goes with its command", async () => {
    await using opened = await warmed();
    const folders: string[] = [];
    for (let n = 0; n < 2; n += 1) {
      const session = await opened.backend.open(opened.confinement);
      const { stdout } = await session.exec({ command: 'echo left > "$TMPDIR/file"; echo "$TMPDIR"' });
      folders.push(stdout.trim());
      expect(existsSync(folders[n]!)).toBe(true);
      await session.close();
      expect(existsSync(folders[n]!)).toBe(false);
      await nextOf(opened);
    }
    expect(folders[0]).not.toBe(folders[1]);
  });

  test("that was killed, or ends as it gets its command, costs no command", async () => {
    await using opened = await warmed();
    const session = await opened.backend.open(opened.confinement);
    process.kill(opened.waiting, "SIGKILL");
    expect(await session.exec({ command: "echo ran; exit 3" })).toMatchObject({ exitCode: 3, stdout: "ran\n" });
    await session.close();
    process.kill(await nextOf(opened), "SIGKILL");
    await until(() => waitingOf(process.pid).length === 0);
    const later = await opened.backend.open(opened.confinement);
    expect(await later.exec({ command: "echo ran" })).toMatchObject({ exitCode: 0, stdout: "ran\n" });
    await later.close();
  });

  test("stays while a command runs, however long", async () => {
    await until(() => waitingOf(process.pid).length === 0);
    await using opened = openBackend();
    const session = await opened.backend.open({ ...opened.confinement, limits: { timeoutSecs: 100_000 } });
    const running = session.exec({ command: "echo > begun; exec sleep 600" }).catch(() => undefined);
    const begun = join(opened.confinement.workspace, "begun");
    await until(() => existsSync(begun), opened.clock);
    await until(() => waitingOf(process.pid).length === 1, opened.clock);
    const [waiting] = waitingOf(process.pid);
    await opened.clock.advance(1_000_000);
    expect(isAlive(waiting!)).toBe(true);
    const closing = session.close();
    await opened.clock.advance(10_000);
    await closing;
    await running;
  });

  test("more commands at once than children wait are more children", async () => {
    await using opened = await warmed();
    const session = await opened.backend.open(opened.confinement);
    const all = await Promise.all([1, 2, 3, 4].map((n) => session.exec({ command: `echo ${n}; sleep 0.1` })));
    expect(all.map(({ stdout }) => stdout.trim())).toEqual(["1", "2", "3", "4"]);
    await session.close();
  });

  test("can be read, written to, traced and killed by no command", async () => {
    await using opened = await warmed();
    const session = await opened.backend.open(opened.confinement);
    const running = session.exec({ command: "while [ ! -e go ]; do sleep 0.02; done; sh ./attack; echo done" });
    await until(() => waitingOf(process.pid).some((pid) => pid !== opened.waiting), opened.clock);
    const next = waitingOf(process.pid).find((pid) => pid !== opened.waiting)!;
    writeFileSync(
      join(opened.confinement.workspace, "attack"),
      `for n in 0 1 2 3 4; do echo '{}' > /proc/${next}/fd/$n && echo "wrote $n"; cat < /proc/${next}/fd/$n && echo "read $n"; done
cat /proc/${next}/environ /proc/${next}/maps && echo "looked"
kill -9 ${next} && echo "killed"; kill -CONT ${next} && echo "signalled"`,
    );
    writeFileSync(join(opened.confinement.workspace, "go"), "");
    expect((await running).stdout).toBe("done\n");
    expect(isAlive(next)).toBe(true);
    await session.close();
  });

  test("shows nothing of a command before it is one: not in its arguments, not in its environment", async () => {
    await using opened = await warmed();
    const shown = ["cmdline", "environ"].map((file) => readFileSync(`/proc/${opened.waiting}/${file}`, "utf8"));
    expect(shown[0]!.split("\0").slice(0, -1)).toEqual([...childCommand]);
    expect(shown[1]).toBe("");
  });

  test("ends with a daemon that is killed, and ends what its commands left, however it hid", async () => {
    const daemon = spawn(process.execPath, [join(import.meta.dirname, "daemon-process.ts")], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = (await once(daemon.stdout, "data")) as [Buffer];
    const workspace = line.toString().split("\n")[0]!;
    await until(() => readFileSync(join(workspace, "hidden"), "utf8").endsWith("\n"));
    const hidden = Number(readFileSync(join(workspace, "hidden"), "utf8"));
    const [waiting] = waitingOf(daemon.pid!);
    expect([isAlive(hidden), isAlive(waiting!)]).toEqual([true, true]);
    daemon.kill("SIGKILL");
    await once(daemon, "exit");
    await until(() => !isAlive(hidden) && !isAlive(waiting!));
    expect(waitingOf(daemon.pid!)).toEqual([]);
    rmSync(dirname(workspace), { recursive: true, force: true });
  });
});

describe("where root has control groups, the child that waits", () => {
  const LIMITS = { timeoutSecs: 60, memoryMb: 300, pids: 64 };
  const groupsOf = (pid: number): string[] =>
    readFileSync(`/proc/${pid}/cgroup`, "utf8")
      .split("\n")
      .map((line) => line.split(":")[2] ?? "")
      .filter((path) => path.includes("svc-sandbox-"));
  /** After a command with limits, with the one that waits in its group. */
  async function grouped(): Promise<OpenedBackend & { readonly waiting: number; readonly limited: Confinement }> {
    const opened = await warmed();
    const limited = { ...opened.confinement, limits: LIMITS };
    // The one that waits is of a command without limits: the next one finds another.
    await opened.clock.advance(300_000);
    await until(() => !isAlive(opened.waiting));
    const session = await opened.backend.open(limited);
    expect(await session.exec({ command: ["true"] })).toMatchObject({ exitCode: 0 });
    await session.close();
    const waiting = await nextOf(opened);
    expect(groupsOf(waiting)).not.toEqual([]);
    return { ...opened, limited, waiting };
  }
  beforeEach(async (context) => {
    context.skip((await findGroupMaker()) === undefined, "needs root, and control groups that it may make");
  });

  test("is in the next command's group before there is a command, and both go with the session", async () => {
    await using opened = await grouped();
    const [group] = groupsOf(opened.waiting);
    const session = await opened.backend.open(opened.limited);
    const { stdout } = await session.exec({ command: "echo $$" });
    expect(Number(stdout)).toBe(opened.waiting);
    await session.close();
    const nextGroups = groupsOf(await nextOf(opened));
    expect(nextGroups).not.toEqual([]);
    expect(nextGroups).not.toContain(group);
  });

  test("is held by the limits like any other", async () => {
    await using opened = await grouped();
    const hog = await opened.backend.open(opened.limited);
    const memory = await hog.exec({
      command: ["perl", "-e", 'push @m, "x" x 8_388_608 for 1 .. 128; print "got through"'],
    });
    expect(memory).toMatchObject({ limit: "memoryMb", stdout: "" });
    await hog.close();
    expect(groupsOf(await nextOf(opened))).not.toEqual([]);
    const bomb = await opened.backend.open(opened.limited);
    const forks = await bomb.exec({
      command: ["perl", "-e", "for (1 .. 300) { my $p = fork; defined $p or die; $p or (sleep(20), exit) }"],
    });
    expect(forks).toMatchObject({ limit: "pids" });
    await bomb.close();
  });

  test("is not used under other limits", async () => {
    await using opened = await grouped();
    const session = await opened.backend.open({ ...opened.confinement, limits: { ...LIMITS, memoryMb: 400 } });
    const { stdout } = await session.exec({ command: "echo $$" });
    expect(Number(stdout)).not.toBe(opened.waiting);
    await session.close();
  });

  test("ends with a session that needed none, and no command of others with it", async () => {
    await using opened = await grouped();
    const unused = await opened.backend.open(opened.limited);
    const other = await opened.backend.open(opened.limited);
    const running = other.exec({ command: "echo > begun; until [ -e done ]; do sleep 0.01; done; echo whole" });
    await until(() => existsSync(join(opened.confinement.workspace, "begun")));
    await unused.close();
    expect(isAlive(opened.waiting)).toBe(false);
    writeFileSync(join(opened.confinement.workspace, "done"), "");
    expect(await running).toMatchObject({ exitCode: 0, stdout: "whole\n" });
    await other.close();
  });

  test("leaves no group behind", async () => {
    const opened = await grouped();
    const [group] = groupsOf(opened.waiting);
    await opened[Symbol.asyncDispose]();
    const left = ["pids", "memory", ""].filter((tree) => existsSync(join("/sys/fs/cgroup", tree, group!)));
    expect(left).toEqual([]);
  });
});
