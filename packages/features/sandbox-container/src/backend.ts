import type { Clock, Confinement, Logger, SandboxBackend, SandboxLimit, SandboxSession } from "@svc/contract";
import { confinedSession, limitBySigns, proveConfinement, reasonOf } from "@svc/kit/process";
import { type Engine, type Environment, ask } from "./engine.ts";
import { PREFIX, labelOf, ownerOf, removeLeftovers } from "./leftovers.ts";
import { type Settled, refuseOthers, settle, unavailable } from "./settle.ts";
import { chmod, open, readFile, writeFile } from "node:fs/promises";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { makeScratch } from "@svc/kit/files";
import { mountsOf, runArguments } from "./arguments.ts";
import { type Report, readReport } from "./inside.ts";
import { profileIn } from "./seccomp-profile.ts";
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";

export interface ContainerOptions {
  /** Name of the image. */
  readonly image: string;
  readonly clock: Pick<Clock, "after">;
  /** `$SVC_HOME`: whose containers they are. */
  readonly homeFolder: string;
  readonly log: Logger;
  /** Default: the daemon's. */
  readonly environment?: () => Environment;
}

/** A container of podman or docker around commands. Throws SANDBOX_UNAVAILABLE where none can be started. */
export function createContainers(options: ContainerOptions): SandboxBackend {
  const { image, clock, homeFolder, log, environment = () => process.env } = options;
  const label = labelOf(homeFolder);
  let known: Settled | undefined;
  const settledFor = async (confinement: Confinement, signal: AbortSignal): Promise<Settled> => {
    refuseOthers(confinement);
    const owner = await ownerOf(process.pid);
    return (known ??= await settle({
      image,
      environment: environment(),
      signal,
      tryOut: (settled) => tryOut({ settled, confinement, owner, label, signal }),
    }));
  };
  const open = async (confinement: Confinement, signal = new AbortController().signal) =>
    containerSession({
      confinement,
      settled: await settledFor(confinement, signal),
      owner: await ownerOf(process.pid),
      label,
      clock,
    });
  return {
    id: "container",
    open: (confinement) => open(confinement),
    async probe(confinement, signal) {
      try {
        known = undefined; // what was missing may be there by now, and the other way round
        const { engine, workarounds } = await settledFor(confinement, signal);
        const removed = await removeLeftovers(engine, label, signal);
        if (removed > 0) log.info("Containers were removed that a killed process had left behind.", { count: removed });
        const objection = await proveConfinement({ open, confinement, signal, offline: OFFLINE });
        if (objection !== undefined) return { available: false, reason: objection };
        const grouped: SandboxLimit[] = workarounds.noGroups ? ["memoryMb", "pids"] : [];
        return {
          available: true,
          unenforced: grouped.filter((limit) => confinement.limits[limit] !== undefined),
          notes: notesOn(engine.name, confinement),
        };
      } catch (error) {
        signal.throwIfAborted();
        return { available: false, reason: reasonOf(error) };
      }
    },
  };
}

const notesOn = (engine: string, { network }: Confinement): string[] => [
  `Commands run in containers of ${engine}: with the image's programs, not this machine's.`,
  ...(network ? ["With security.sandbox.network they share this machine's network, its loopback included."] : []),
];

/** Two lines of headings and the loopback interface, proc_pid_net(5). */
const OFFLINE = `{ read -r a; read -r b; read -r first rest; read -r more; } </proc/net/dev; case "$first$more" in lo:*) echo offline;; esac`;

interface TryOut {
  readonly settled: Settled;
  readonly confinement: Confinement;
  readonly owner: string;
  readonly label: string;
  readonly signal: AbortSignal;
}

/** Runs a command that does nothing, as any other would be. undefined: it ran; else what the engine said. */
async function tryOut({ settled, confinement, owner, label, signal }: TryOut): Promise<string | undefined> {
  const { engine } = settled;
  await using scratch = await makeScratch({ prefix: `${PREFIX}${owner}-` });
  const folder = scratch.path;
  const name = `${PREFIX}${owner}-${randomUUID()}`;
  const report = join(folder, "report");
  await writeFile(report, "");
  await chmod(report, 0o666); // whatever the umask is
  const seccomp = await profileIn(folder, settled);
  const mounts = await mountsOf(confinement, folder);
  const run = { settled, confinement, mounts, name, labels: [label], report, seccomp };
  const nothing = { words: ["/bin/sh", "-c", ":"], folder: confinement.workspace, env: {}, hasInput: false } as const;
  const { exitCode, stderr } = await ask(engine, runArguments(run, nothing), signal);
  const { ended } = readReport(await readFile(report, "utf8"));
  // A warning would be in the output of every command.
  if (exitCode === 0 && ended && stderr === "") return undefined;
  if (!ended) await ask(engine, ["rm", "--force", "--volumes", name], signal);
  return stderr === "" ? "no answer" : stderr;
}

interface ContainerSession {
  readonly confinement: Confinement;
  readonly settled: Settled;
  /** Of this process. */
  readonly owner: string;
  readonly label: string;
  readonly clock: Pick<Clock, "after">;
}

/** A container for each command. The engine's program is only a window on it: whoever closes that has to remove the container. */
async function containerSession(parts: ContainerSession): Promise<SandboxSession> {
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
