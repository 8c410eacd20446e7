/** What a sandbox adds to a command: `/bin/true` in each, and by a bare spawn, in turns. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Confinement, SandboxBackend } from "@svc/contract";
import { confinedSession, SANDBOX_USER } from "@svc/kit/process";
import { makeContainerImage, missingEngine } from "@svc/testkit/real/container-image";
import { median } from "../measure.ts";
import { type MadeBackend, makeBackend, SANDBOXES, systemClock } from "./backends.ts";

export interface SandboxTime {
  readonly name: string;
  /** From the call to the session's end. undefined: it is not available here. */
  readonly ms: number | undefined;
  /** More than a bare spawn of the same round, the middle of the differences. */
  readonly overheadMs: number | undefined;
  readonly aim: string;
  /** Why it was not measured. */
  readonly reason?: string;
}

const AIMS: Readonly<Record<string, string>> = { userns: "≤ 5 ms", fsrestrict: "≤ 6 ms" };

/** Between two commands, as an agent leaves it that thinks about what it saw. */
const PAUSE_MS = 250;

export async function measureSandboxes(rounds: number): Promise<SandboxTime[]> {
  const root = realpathSync(mkdtempSync("/var/tmp/svc-bench-"));
  const confinement = confinementIn(root);
  const made: MadeBackend[] = [];
  using image = (await missingEngine()) ? undefined : makeContainerImage(["podman"]);
  const times: { name: string; run: () => Promise<void>; aim: string; samples: number[]; over: number[] }[] = [];
  const missing: SandboxTime[] = [];
  const add = (name: string, aim: string, run: () => Promise<void>): void => {
    times.push({ name, run, aim, samples: [], over: [] });
  };
  try {
    add("bare spawn", "", bareSpawn);
    add("none: watched, and nothing else", "", () => commandIn(unconfined, confinement));
    for (const [id, definition] of Object.entries(SANDBOXES)) {
      const one = await makeBackend(id, definition, join(root, "home"), image?.name);
      made.push(one);
      const probe = await one.backend.probe(confinement, AbortSignal.timeout(60_000));
      const aim = AIMS[id] ?? "";
      if (!probe.available) missing.push({ name: id, ms: undefined, overheadMs: undefined, aim, reason: probe.reason });
      else add(id, aim, () => commandIn(one.backend, confinement));
      if (id === "fsrestrict" && probe.available) {
        add("fsrestrict, the first command", "", async () => {
          const cold = await makeBackend(id, definition, join(root, "home"));
          await commandIn(cold.backend, confinement);
          await cold.shutdown();
        });
      }
    }
    for (let round = 0; round < rounds; round += 1) {
      let bareMs = 0;
      for (const [index, { run, samples, over }] of times.entries()) {
        await pause(PAUSE_MS);
        const ms = await timeOf(run);
        if (index === 0) bareMs = ms;
        samples.push(ms);
        over.push(ms - bareMs);
      }
    }
  } finally {
    for (const { shutdown } of made) await shutdown();
    rmSync(root, { recursive: true, force: true });
  }
  const measured = times.map(({ name, aim, samples, over }) => ({
    name,
    aim,
    ms: median(samples),
    overheadMs: median(over),
  }));
  return [...measured, ...missing];
}

async function timeOf(run: () => Promise<void>): Promise<number> {
  const before = performance.now();
  await run();
  return performance.now() - before;
}

function confinementIn(root: string): Confinement {
  const workspace = join(root, "home/workspace");
  mkdirSync(workspace, { recursive: true });
  for (const folder of [root, join(root, "home")]) chmodSync(folder, 0o755);
  const user = process.getuid?.() === 0 ? SANDBOX_USER : undefined;
  if (user) chownSync(workspace, user.uid, user.gid);
  return {
    workspace,
    network: false,
    readable: [],
    writable: [],
    hidden: [],
    limits: { memoryMb: 2048, pids: 256, timeoutSecs: 60 },
    ...(user && { user }),
  };
}

/** As the agent does it: a session for the command. */
async function commandIn(backend: Pick<SandboxBackend, "open">, confinement: Confinement): Promise<void> {
  const session = await backend.open(confinement);
  try {
    const { exitCode, stderr } = await session.exec({ command: ["/bin/true"] });
    if (exitCode !== 0) throw new Error(`/bin/true ended with ${exitCode}: ${stderr}`);
  } finally {
    await session.close();
  }
}

async function bareSpawn(): Promise<void> {
  await once(spawn("/bin/true", [], { stdio: ["ignore", "pipe", "pipe"], detached: true }), "close");
}

const unconfined: Pick<SandboxBackend, "open"> = {
  open: async (confinement) =>
    confinedSession(
      confinement,
      {
        start: ({ words: [file, ...args], folder: cwd, env }) =>
          spawn(file, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], detached: true }),
      },
      { clock: systemClock() },
    ),
};
