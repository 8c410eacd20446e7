import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { open } from "node:fs/promises";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Clock, Confinement, SandboxSession } from "@svc/contract";
import { makeScratch } from "@svc/kit/files";
import { confinedSession, limitBySigns } from "@svc/kit/process";
import { runArguments } from "./arguments.ts";
import { ask, type Engine } from "./engine.ts";
import { type Report, readReport } from "./inside.ts";
import { PREFIX } from "./leftovers.ts";
import { mountsOf } from "./mounts.ts";
import { profileIn } from "./seccomp-profile.ts";
import type { Settled } from "./settle.ts";
import { unavailable } from "./settle.ts";

export interface ContainerSession {
  readonly confinement: Confinement;
  readonly settled: Settled;
  /** Of this process. */
  readonly owner: string;
  readonly label: string;
  readonly clock: Pick<Clock, "after">;
}

/** A container for each command. The engine's program is only a window on it: whoever closes that has to remove the container. */
export async function containerSession(parts: ContainerSession): Promise<SandboxSession> {
  const { confinement, settled, owner, label, clock } = parts;
  const { engine } = settled;
  const { path: folder, dispose } = await makeScratch({ prefix: `${PREFIX}${owner}-` });
  const prepared = Promise.all([mountsOf(confinement, folder), profileIn(folder, settled)]);
  const [mounts, seccomp] = await prepared.catch(async (error: unknown) => {
    await dispose();
    throw error;
  });
  const started = new WeakMap<ChildProcess, Promise<Report>>();
  const gone = new Set<Promise<unknown>>();
  return confinedSession(
    confinement,
    {
      start(command) {
        const id = randomUUID();
        const report = join(folder, id);
        // Whoever the command runs as writes into it; the folder lets nobody else come near it.
        writeFileSync(report, "");
        chmodSync(report, 0o666);
        const name = `${PREFIX}${owner}-${id}`;
        const run = { settled, confinement, mounts, name, labels: [label], report, seccomp };
        const child = spawn(engine.file, runArguments(run, command), {
          cwd: "/",
          env: engine.env,
          stdio: [command.hasInput ? "pipe" : "ignore", "pipe", "pipe"],
          detached: true,
        });
        const ended = endOf(child, engine, name, report);
        started.set(child, ended);
        gone.add(ended);
        void ended.finally(() => gone.delete(ended));
        return child;
      },
      async judge(result, child) {
        const report = await started.get(child);
        if (!report?.began && !result.timedOut) throw unavailable("The container's engine did not start the command.");
        const limit = result.exitCode === 0 ? undefined : (report?.limit ?? limitBySigns(result, confinement.limits));
        return limit ? { ...result, limit } : result;
      },
      async close() {
        await Promise.all(gone);
        await dispose();
      },
    },
    { clock },
  );
}

/** What the container wrote down, once nothing of it is left. */
async function endOf(child: ChildProcess, engine: Engine, name: string, file: string): Promise<Report> {
  const exit = await new Promise<{ code: number | null }>((resolve) => {
    child.once("exit", (code) => resolve({ code })).once("error", () => resolve({ code: ENGINE_FAILED }));
  });
  const report = readReport(await beginning(file));
  // The engine removes what has ended. What has not, lives on without its window; a command's own word for it is not taken.
  const isOver = exit.code !== null && exit.code !== ENGINE_FAILED && report.ended;
  if (!isOver) await ask(engine, ["rm", "--force", "--volumes", name]).catch(() => undefined);
  return report;
}

/** Exit code of podman and docker when it was they who failed. */
const ENGINE_FAILED = 125;

/** A command may write into it, too, and as much as it likes. */
async function beginning(file: string): Promise<string> {
  const handle = await open(file).catch(() => undefined);
  if (!handle) return "";
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(4096), 0, 4096, 0);
    return buffer.toString("latin1", 0, bytesRead);
  } finally {
    await handle.close();
  }
}
