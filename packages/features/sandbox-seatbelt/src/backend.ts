import { type ChildProcess, spawn } from "node:child_process";
import { realpath } from "node:fs/promises";
import type { Readable } from "node:stream";
import {
  type Clock,
  type Confinement,
  type SandboxBackend,
  type SandboxLimit,
  type SandboxSession,
  SvcError,
} from "@svc/contract";
import { makeScratch } from "@svc/kit/files";
import {
  confinedSession,
  findProgram,
  limitBySigns,
  proveConfinement,
  reasonOf,
  withoutDescriptors,
} from "@svc/kit/process";
import { profileOf } from "./profile.ts";

export interface SeatbeltOptions {
  readonly clock: Pick<Clock, "after">;
  /** Default: this machine's. */
  readonly platform?: NodeJS.Platform;
}

/** sandbox-exec of macOS around commands. Throws SANDBOX_UNAVAILABLE where it can't be. */
export function createSeatbelt({ clock, platform = process.platform }: SeatbeltOptions): SandboxBackend {
  const open = async (confinement: Confinement): Promise<SandboxSession> => {
    if (platform !== "darwin") throw unavailable("Seatbelt is not for this system: it is a part of macOS.");
    const program = await findProgram("sandbox-exec", "/usr/bin");
    if (program === undefined) throw unavailable("This macOS has no /usr/bin/sandbox-exec any more.");
    return seatbeltSession(program, confinement, clock);
  };
  return {
    id: "seatbelt",
    open,
    async probe(confinement, signal) {
      try {
        const objection = await proveConfinement({ open, confinement, signal, offline: OFFLINE });
        if (objection !== undefined) return { available: false, reason: objection };
        const unenforced = NOT_HELD.filter((limit) => confinement.limits[limit] !== undefined);
        return { available: true, unenforced, notes: [GETS_AWAY] };
      } catch (error) {
        signal.throwIfAborted();
        return { available: false, reason: reasonOf(error) };
      }
    },
  };
}

const unavailable = (message: string): SvcError => new SvcError("SANDBOX_UNAVAILABLE", message);

/** macOS ignores RLIMIT_AS, and RLIMIT_NPROC counts all processes of a user. */
const NOT_HELD: readonly SandboxLimit[] = ["memoryMb", "pids"];

const GETS_AWAY =
  "A command that starts a new session may outlive its call, still confined: macOS has no control groups.";

/** The profile refuses every connection, to this machine too; the message tells a refusal from a port without a listener. */
const OFFLINE = `case "$( { /usr/bin/nc -z 127.0.0.1 9; } 2>&1; /bin/bash -c 'exec 3<>/dev/tcp/127.0.0.1/9' 2>&1)" in *"not permitted"*) echo offline;; esac`;

/** For `sh -c`: says by descriptor 3 that it is inside, limits processor time and becomes the command. */
const ENTRY = withoutDescriptors(
  `ulimit -c 0; [ "$1" = - ] || ulimit -S -t "$1" || exit 1; shift; echo began >&3; exec 3>&-; exec "$@"`,
  [3],
);

async function seatbeltSession(
  program: string,
  confinement: Confinement,
  clock: Pick<Clock, "after">,
): Promise<SandboxSession> {
  const { user, limits } = confinement;
  const temporary = await makeScratch({ prefix: "svc-seatbelt-", owner: user });
  const began = new WeakSet<ChildProcess>();
  try {
    const profile = profileOf({ ...confinement, ...(await realPaths(confinement)), temporary: temporary.path });
    return confinedSession(
      confinement,
      {
        start({ words, folder, env, hasInput }) {
          const entry = ["/bin/sh", "-c", ENTRY, "sh", limits.cpuSecs === undefined ? "-" : String(limits.cpuSecs)];
          const child = spawn(program, ["-p", profile, ...entry, ...words], {
            cwd: folder,
            env: { ...env, TMPDIR: temporary.path },
            stdio: [hasInput ? "pipe" : "ignore", "pipe", "pipe", "pipe"],
            detached: true,
            ...user,
          });
          const way = child.stdio[3] as Readable;
          way.on("error", () => undefined).on("data", () => began.add(child));
          return child;
        },
        judge(result, child) {
          if (!began.has(child) && !result.timedOut) throw unavailable("sandbox-exec did not start the command.");
          const limit = limitBySigns(result, { ...(limits.cpuSecs !== undefined && { cpuSecs: limits.cpuSecs }) });
          return limit ? { ...result, limit } : result;
        },
        close: temporary.dispose,
      },
      { clock },
    );
  } catch (error) {
    await temporary.dispose();
    throw error;
  }
}

/** The kernel compares paths without links. A hidden path that does not exist is hidden under its future real path. */
async function realPaths({ workspace, readable, writable, hidden }: Confinement) {
  const existing = async (paths: readonly string[]): Promise<string[]> => {
    const real = await Promise.all(paths.map((path) => realpath(path).catch(() => undefined)));
    return real.filter((path) => path !== undefined);
  };
  return {
    workspace: await realpath(workspace),
    readable: await existing(readable),
    writable: await existing(writable),
    hidden: [...new Set([...hidden, ...(await existing(hidden))])],
  };
}
