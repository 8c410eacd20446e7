// A sandbox that waits for its command is one like any other: every promise is tried on it too. And it is used for nothing but what
// it was made for, seen by nobody, and ended with whoever made it.
import { spawn, type StdioOptions } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Confinement, FeatureDefinition, SandboxSession } from "@svc/contract";
import { findProgram } from "@svc/kit/process";
import { sandboxConformance } from "@svc/testkit/conformance/sandbox-conformance";
import { type FakeClock, fakeClock } from "@svc/testkit/fake-clock";
import { requireReal } from "@svc/testkit/require-real";
import { type TemporaryHome, temporaryHome } from "@svc/testkit/temporary-home";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createUserns, type Userns } from "../src/backend.ts";
import definition from "../src/index.ts";

const missing = async () =>
  (await findProgram("bwrap")) === undefined
    ? { name: "bubblewrap", reason: "bwrap is not on PATH; apt-get install bubblewrap" }
    : undefined;

/** Each session begins with a sandbox that has waited for it. */
const warmed: FeatureDefinition = {
  ...definition,
  load: async () => ({
    create({ clock }) {
      const { backend, settled, shutdown } = createUserns({ clock });
      const open = async (confinement: Confinement): Promise<SandboxSession> => {
        await warm(await backend.open(confinement), clock as FakeClock);
        await settled();
        return backend.open(confinement);
      };
      return { sandbox: { ...backend, open }, shutdown };
    },
  }),
};

async function warm(session: SandboxSession, clock: FakeClock): Promise<void> {
  await session.exec({ command: ["true"] });
  await session.close();
  await clock.advance(SETTLED_MS);
}
const SETTLED_MS = 100;

sandboxConformance(warmed, { missing });

describe("the one that waits", () => {
  let home: TemporaryHome;
  let clock: FakeClock;
  let userns: Userns;
  let workspace = "";
  beforeEach(async (context) => {
    const part = await missing();
    if (part) requireReal(context, part);
    home = temporaryHome();
    workspace = join(home.path, "workspace");
    mkdirSync(workspace);
    clock = fakeClock();
    userns = createUserns({ clock });
  });
  afterEach(async () => {
    await userns.shutdown();
    if (childPids().length > 0) throw new Error("a sandbox is left");
    home.remove();
  });

  const confinement = (asked: Partial<Confinement> = {}): Confinement => ({
    workspace,
    network: false,
    readable: [],
    writable: [],
    hidden: [],
    limits: { timeoutSecs: 60 },
    ...asked,
  });
  const keepOne = async (asked: Partial<Confinement> = {}): Promise<number[]> => {
    await warm(await userns.backend.open(confinement(asked)), clock);
    await userns.settled();
    return childPids();
  };
  const output = async (command: string, asked: Partial<Confinement> = {}): Promise<string> => {
    const session = await userns.backend.open(confinement(asked));
    try {
      const { stdout, stderr } = await session.exec({ command });
      return stdout + stderr;
    } finally {
      await session.close();
    }
  };

  test("becomes the next command, and another one takes its place", async () => {
    const [waiting] = await keepOne();
    expect(waiting).toBeGreaterThan(0);
    const session = await userns.backend.open(confinement());
    const running = session.exec({ command: "echo up > up; until [ -e done ]; do :; done" });
    await until(() => existsSync(join(workspace, "up")));
    expect(childPids(), "the child that waited is the command's").toEqual([waiting]);
    writeFileSync(join(workspace, "done"), "");
    expect((await running).exitCode).toBe(0);
    await session.close();
    await clock.advance(SETTLED_MS);
    await userns.settled();
    expect(childPids()).toHaveLength(1);
    expect(childPids()).not.toContain(waiting);
  });

  test.each<[string, Partial<Confinement>]>([
    ["the network", { network: true }],
    ["a limit", { limits: { timeoutSecs: 60, pids: 20 } }],
    ["a folder that is readable", { readable: ["/var"] }],
    ["one that is hidden", { hidden: ["/usr/share"] }],
  ])("is not used where %s differs", async (_what, asked) => {
    const [waiting] = await keepOne();
    const session = await userns.backend.open(confinement(asked));
    expect((await session.exec({ command: ["true"] })).exitCode).toBe(0);
    expect(childPids()).toContain(waiting);
    await session.close();
  });

  test("is not used when the workspace is another folder by now, or a hidden one has come into being", async () => {
    await keepOne();
    renameSync(workspace, `${workspace}-before`);
    mkdirSync(workspace);
    writeFileSync(join(workspace, "new"), "of the new one");
    expect(await output("cat new")).toBe("of the new one");
    const hidden = join(workspace, "keys");
    await keepOne({ hidden: [hidden] });
    mkdirSync(hidden);
    writeFileSync(join(hidden, "key"), "secret");
    expect(await output("cat keys/key", { hidden: [hidden] })).not.toContain("secret");
  });

  test("of several confinements the last two have one, for a while", async () => {
    const [first] = await keepOne();
    await keepOne({ network: true });
    expect(childPids()).toHaveLength(2);
    await keepOne({ readable: ["/var"] });
    expect(childPids()).toHaveLength(2);
    expect(childPids()).not.toContain(first);
    await clock.advance(300_000);
    await userns.settled();
    expect(childPids()).toEqual([]);
  });

  test("one that was ended by somebody is not missed", async () => {
    const [waiting] = await keepOne();
    process.kill(waiting!, "SIGKILL");
    await until(() => childPids().length === 0);
    expect(await output("echo here")).toBe("here\n");
  });

  test("bubblewrap that is gone by then takes nobody along", async () => {
    const folder = join(home.path, "bin");
    mkdirSync(folder);
    for (const name of ["bwrap", "setpriv"]) {
      copyFileSync((await findProgram(name))!, join(folder, name));
      chmodSync(join(folder, name), 0o755);
    }
    const own = createUserns({ clock, path: folder });
    const session = await own.backend.open(confinement());
    expect(await session.exec({ command: ["true"] })).toMatchObject({ exitCode: 0 });
    await session.close();
    rmSync(join(folder, "bwrap"));
    await clock.advance(SETTLED_MS);
    await own.settled();
    const next = await own.backend.open(confinement());
    await expect(next.exec({ command: ["true"] })).rejects.toMatchObject({ code: "TOOL_BAD_INPUT" });
    await next.close();
    await own.shutdown();
  });

  test("a session that runs nothing leaves nothing; neither does a probe", async () => {
    await keepOne();
    await (await userns.backend.open(confinement())).close();
    expect(childPids()).toEqual([]);
    expect(await userns.backend.probe(confinement(), new AbortController().signal)).toMatchObject({ available: true });
    await clock.advance(SETTLED_MS);
    await userns.settled();
    expect(childPids()).toEqual([]);
  });

  test("a command has nothing of what the daemon was started with: descriptors, environment", async () => {
    const script = `
      const { createUserns } = await import(${JSON.stringify(new URL("../src/backend.ts", import.meta.url).href)});
      const { backend, shutdown } = createUserns({ clock: { after: () => () => undefined } });
      const session = await backend.open(${JSON.stringify(confinement())});
      const command = "for n in 3 4 5 6 7 8 9; do [ -e /proc/self/fd/$n ] && echo $n; done; env";
      console.log((await session.exec({ command })).stdout);
      await session.close();
      await shutdown();`;
    const lock = openSync(join(home.path, "lock"), "w");
    const stdio: StdioOptions = ["ignore", "pipe", "inherit", ...Array.from({ length: 7 }, () => lock)];
    const daemon = spawn(process.execPath, ["--input-type=module", "--eval", script], {
      stdio,
      env: { ...process.env, TOKEN: "secret" },
    });
    closeSync(lock);
    const told = await text(daemon.stdout!);
    expect(told).toContain("HOME=");
    expect(told).not.toMatch(/^\d$|TOKEN/m);
  });

  test("ends with a daemon that is killed", async () => {
    const script = `
      const { createUserns } = await import(${JSON.stringify(new URL("../src/backend.ts", import.meta.url).href)});
      const now = (ms, run) => (ms < 1000 ? setImmediate(run) : undefined, () => undefined);
      const { backend, settled } = createUserns({ clock: { after: now } });
      const session = await backend.open(${JSON.stringify(confinement())});
      await session.exec({ command: ["true"] });
      await session.close();
      await new Promise(setImmediate);
      await settled();
      console.log("waits");
      setInterval(() => undefined, 1000);`;
    const daemon = spawn(process.execPath, ["--input-type=module", "--eval", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      await once(daemon.stdout, "data");
      const left = childPids(daemon.pid);
      expect(left).toHaveLength(1);
      // It makes the sandbox itself: a child of its own, a moment later.
      await until(() => descendants(left[0]!).length > 0);
      const all = [...left, ...descendants(left[0]!)];
      daemon.kill("SIGKILL");
      await until(() => all.every((pid) => !isAlive(pid)));
    } finally {
      daemon.kill("SIGKILL");
    }
  });
});

const isAlive = (pid: number): boolean => stateOf(pid) !== undefined && stateOf(pid) !== "Z";

/** Fields of /proc/<pid>/stat behind the name; proc(5). */
function statOf(pid: number): string[] | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1)?.split(" ");
  } catch {
    return undefined;
  }
}
const stateOf = (pid: number): string | undefined => statOf(pid)?.[0];

const pids = (): number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
const childPids = (parent = process.pid): number[] =>
  pids().filter((pid) => statOf(pid)?.[1] === String(parent) && nameOf(pid) === "bwrap" && isAlive(pid));
const descendants = (parent: number): number[] =>
  pids().flatMap((pid) => (statOf(pid)?.[1] === String(parent) ? [pid, ...descendants(pid)] : []));
const nameOf = (pid: number): string => readFileSync(`/proc/${pid}/comm`, "utf8").trim();
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}
