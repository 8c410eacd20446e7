import { spawn } from "node:child_process";
import { type Confinement, type SandboxBackend, SvcError } from "@svc/contract";
import { inheritableDescriptors } from "@svc/kit/descriptors";
import {
  type ConfinedCommand,
  confinedSession,
  type Confining,
  type ConfinedSessionOptions,
  withoutDescriptors,
} from "@svc/kit/process";

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
  start: ({ words, folder, env, hasInput }) => {
    const [file, ...args] = inheritableDescriptors().length > 0 ? alone(words) : words;
    return spawn(file, args, {
      cwd: folder,
      env,
      stdio: [hasInput ? "pipe" : "ignore", "pipe", "pipe"],
      detached: true, // a process group of its own, so that one signal reaches all of it
      windowsHide: true,
    });
  },
};

/** Without what the daemon has open; a shell in between costs time, so only where something would go along. */
const alone = (words: ConfinedCommand["words"]): ConfinedCommand["words"] => [
  "/bin/sh",
  "-c",
  withoutDescriptors('exec "$@"'),
  "sh",
  ...words,
];

function refuseLimits({ limits }: Confinement): void {
  if ([limits.memoryMb, limits.cpuSecs, limits.pids].every((limit) => limit === undefined)) return;
  throw new SvcError("SANDBOX_UNAVAILABLE", "Limits of memory, processor time or processes need a sandbox.");
}
