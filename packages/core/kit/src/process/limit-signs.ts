import type { ExecResult, SandboxLimit, SandboxLimits } from "@svc/contract";

/**
 * Guesses the limit that a command hit, from how it ended. Beyond an rlimit the kernel only fails the call, so the program's
 * output is the only sign. The guess informs a person; no decision depends on it.
 */
export function limitBySigns(
  { exitCode, signal, stderr }: Pick<ExecResult, "exitCode" | "signal" | "stderr">,
  limits: SandboxLimits,
): SandboxLimit | undefined {
  if (exitCode === 0) return undefined;
  if (limits.cpuSecs !== undefined && (signal === "SIGXCPU" || exitCode === 128 + SIGXCPU)) return "cpuSecs";
  if (limits.pids !== undefined && NO_PROCESS.test(stderr)) return "pids";
  if (limits.memoryMb !== undefined && NO_MEMORY.test(stderr)) return "memoryMb";
  return undefined;
}

/** Of Linux; of macOS too. */
const SIGXCPU = 24;

/** EAGAIN of fork(2) and clone(2), as shells, libraries and languages say it. */
const NO_PROCESS = /resource temporarily unavailable|cannot fork|can't fork|unable to fork|can't start new thread/i;

/** ENOMEM of mmap(2) and brk(2), likewise. */
const NO_MEMORY =
  /out of memory|cannot allocate memory|can't allocate memory|memory exhausted|MemoryError|bad_alloc|OutOfMemoryError/i;
