import { realpath, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { type Clock, type Confinement, type ExecRequest, type SandboxBackend, SvcError } from "@svc/contract";
import { isInside } from "../workspace/path-rules.ts";
import { runProcess } from "./run-process.ts";

export interface NoneBackendOptions {
  /** Time between SIGTERM and SIGKILL when a command is ended. Default 2000. */
  readonly graceMs?: number;
  /** Default: the runtime's timers. */
  readonly clock?: Pick<Clock, "after">;
}

/**
 * The backend that is always there and confines nothing: a command can read and write what the daemon's user can, and
 * reach the network. It still gets a clean environment, starts below the workspace, ends with all its processes, and
 * fills no memory. A limit that only a sandbox can enforce is refused, not ignored.
 */
export function createNoneBackend(options: NoneBackendOptions = {}): SandboxBackend {
  return {
    id: "none",
    probe: async () => ({ available: true }),
    async open(confinement) {
      refuseLimits(confinement);
      const closing = new AbortController();
      const running = new Set<Promise<unknown>>();
      return {
        async exec(request) {
          if (closing.signal.aborted) throw closed();
          const ended = runIn(confinement, request, closing.signal, options);
          running.add(ended);
          try {
            return await ended;
          } finally {
            running.delete(ended);
          }
        },
        async close() {
          closing.abort(closed());
          await Promise.allSettled(running);
        },
      };
    },
  };
}

export const noneBackend: SandboxBackend = createNoneBackend();

const MAX_OUTPUT_BYTES = 131_072;
const TIMEOUT_SECS = 120;

async function runIn(
  confinement: Confinement,
  request: ExecRequest,
  closing: AbortSignal,
  { graceMs = 2000, clock }: NoneBackendOptions,
): ReturnType<typeof runProcess> {
  const words = typeof request.command === "string" ? ["/bin/sh", "-c", "--", request.command] : request.command;
  const [file = "", ...args] = words;
  if (file.trim() === "" || (words.at(-1) === "" && typeof request.command === "string")) {
    throw new SvcError("TOOL_BAD_INPUT", "There is no command.");
  }
  if ([...words, request.cwd ?? ""].some((word) => word.includes("\0"))) {
    throw new SvcError("TOOL_BAD_INPUT", "A command can't contain a NUL character.");
  }
  const limitMs = (confinement.limits.timeoutSecs ?? TIMEOUT_SECS) * 1000;
  return await runProcess({
    file,
    args,
    cwd: await folderIn(confinement.workspace, request.cwd),
    env: environmentFor(confinement.workspace),
    stdin: request.stdin,
    timeoutMs: Math.min(request.timeoutMs ?? limitMs, limitMs),
    maxOutputBytes: request.maxOutputBytes ?? MAX_OUTPUT_BYTES,
    signal: request.signal ? AbortSignal.any([request.signal, closing]) : closing,
    graceMs,
    clock,
  });
}

/** Nothing of the daemon's own environment: it holds secrets, and variables that make programs load code. */
function environmentFor(workspace: string): Record<string, string> {
  return {
    PATH: [
      "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
      ...(process.platform === "darwin" ? ["/opt/homebrew/bin"] : []),
    ].join(":"),
    HOME: workspace,
    LANG: "C.UTF-8",
    TERM: "dumb",
  };
}

async function folderIn(workspace: string, cwd = "."): Promise<string> {
  try {
    const root = await realpath(workspace);
    const folder = await realpath(resolve(root, cwd));
    if (!isInside(folder, root)) throw new SvcError("PATH_OUTSIDE_WORKSPACE", "A command starts inside the workspace.");
    if ((await stat(folder)).isDirectory()) return folder;
  } catch (error) {
    if (error instanceof SvcError) throw error;
  }
  throw new SvcError("TOOL_BAD_INPUT", "The folder to run the command in does not exist.");
}

function refuseLimits({ limits }: Confinement): void {
  if ([limits.memoryMb, limits.cpuSecs, limits.pids].every((limit) => limit === undefined)) return;
  throw new SvcError("SANDBOX_UNAVAILABLE", "Limits of memory, processor time or processes need a sandbox.");
}

const closed = (): SvcError => new SvcError("TOOL_FAILED", "The command was ended because its session was closed.");
