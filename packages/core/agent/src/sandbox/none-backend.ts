import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { type Confinement, type SandboxBackend, SvcError } from "@svc/contract";
import { inheritableDescriptors } from "@svc/kit/descriptors";
import { confinedSession, type Confining, type ConfinedSessionOptions } from "@svc/kit/process";

/**
 * The backend that is always there and confines nothing: a command can read and write what the daemon's user can, and
 * reach the network. It still gets a clean environment, starts below the workspace, ends with all its processes, and
 * fills no memory. A limit that only a sandbox can enforce is refused, not ignored.
 */
export function createNoneBackend(options: ConfinedSessionOptions = {}): SandboxBackend {
  return {
    id: "none",
    probe: async () => ({ available: true, unenforced: ["memoryMb", "cpuSecs", "pids"] }),
    async open(confinement) {
      refuseLimits(confinement);
      return confinedSession(confinement, UNCONFINED, options);
    },
  };
}

export const noneBackend: SandboxBackend = createNoneBackend();

const UNCONFINED: Confining = {
  start: ({ words: [file, ...args], verbatim = false, folder, env, hasInput }) => {
    const covers = coversOf(inheritableDescriptors());
    try {
      return spawn(file, args, {
        cwd: folder,
        env,
        stdio: [hasInput ? "pipe" : "ignore", "pipe", "pipe", ...covers.stdio],
        // A process group of its own, so that one signal reaches all of it. On Windows it would be a console of its own.
        detached: process.platform !== "win32",
        windowsHide: true,
        windowsVerbatimArguments: verbatim,
      });
    } finally {
      covers.close();
    }
  },
};

/** What the daemon still has open for its children is /dev/null for a command. The start closed all but what its command line names. */
function coversOf(descriptors: readonly number[]): { stdio: ("ignore" | number)[]; close(): void } {
  if (descriptors.length === 0) return { stdio: [], close: () => undefined };
  const nothing = openSync("/dev/null", "r+");
  const length = Math.max(...descriptors) - 2;
  return {
    stdio: Array.from({ length }, (_, at) => (descriptors.includes(at + 3) ? nothing : "ignore")),
    close: () => closeSync(nothing),
  };
}

function refuseLimits({ limits }: Confinement): void {
  if ([limits.memoryMb, limits.cpuSecs, limits.pids].every((limit) => limit === undefined)) return;
  throw new SvcError("SANDBOX_UNAVAILABLE", "Limits of memory, processor time or processes need a sandbox.");
}
