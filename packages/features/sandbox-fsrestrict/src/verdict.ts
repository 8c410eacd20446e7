/** What came of a child, and of the command that it became. */
import { type Confinement, type ExecResult, type SandboxLimit, SvcError } from "@svc/contract";
import type { Report } from "./request.ts";

export function reportsIn(text: string): Report[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Report);
}

/** Throws SANDBOX_UNAVAILABLE where the command was not confined, TOOL_BAD_INPUT where its program could not be started. */
export function judge(result: ExecResult, reports: readonly Report[], limits: Confinement["limits"]): ExecResult {
  const failure = reports.find(({ kind }) => kind === "failed" || kind === "not-executed");
  if (failure?.kind === "failed") throw new SvcError("SANDBOX_UNAVAILABLE", reasonOf(failure));
  if (failure?.kind === "not-executed") return notExecuted(failure.errno, result);
  const limit = limitOf(result, limits);
  if (reports.length > 0) return limit ? { ...result, limit } : result;
  // Ended on purpose before it began (a time-out), or by somebody else.
  if (result.timedOut) return result;
  throw new SvcError("SANDBOX_UNAVAILABLE", "The process that confines a command ended before the command began.");
}

function notExecuted(errno: string, result: ExecResult): ExecResult {
  const told = NOT_EXECUTED[errno];
  if (told !== undefined) throw new SvcError("TOOL_BAD_INPUT", told);
  if (errno === "EAGAIN") return { ...result, limit: "pids" };
  if (errno === "ENOMEM") return { ...result, limit: "memoryMb" };
  throw new SvcError("TOOL_FAILED", "The operating system could not start the command.");
}

const NOT_EXECUTED: Readonly<Record<string, string>> = {
  ENOENT: "The program was not found on this machine.",
  EACCES: "The file is not a program that may be run.",
  EPERM: "The file is not a program that may be run.",
  E2BIG: "The command is too long for the operating system.",
};

/**
 * The kernel signals whoever computes for too long. Of the other two it tells the program alone, by a call that fails: what the
 * program says of it when it ends badly is all there is. A command can lie about it, to its own disadvantage.
 */
function limitOf({ exitCode, signal, stderr }: ExecResult, limits: Confinement["limits"]): SandboxLimit | undefined {
  if (limits.cpuSecs !== undefined && (signal === "SIGXCPU" || exitCode === 128 + SIGXCPU)) return "cpuSecs";
  if (exitCode === 0) return undefined;
  if (limits.pids !== undefined && NO_MORE_PROCESSES.test(stderr)) return "pids";
  if (limits.memoryMb !== undefined && NO_MORE_MEMORY.test(stderr)) return "memoryMb";
  return undefined;
}

const SIGXCPU = 24;
/** strerror(EAGAIN) after a fork(2) or clone(2), and what shells and runtimes make of it. */
const NO_MORE_PROCESSES =
  /fork.*(resource temporarily unavailable|EAGAIN)|can't start new thread|EAGAIN.*spawn|cannot fork/i;
const NO_MORE_MEMORY = /out of memory|cannot allocate memory|memoryerror|bad_alloc|ENOMEM|memory exhausted/i;

/** A sentence for `svc doctor`. */
export function reasonOf({ step, errno }: Extract<Report, { kind: "failed" }>): string {
  const known = REASONS[step];
  if (known !== undefined) return known(errno);
  return `The kernel refused a part of the confinement (${step}: ${errno}).`;
}

const REASONS: Readonly<Record<string, (errno: string) => string>> = {
  landlock: (errno) =>
    errno === "EOPNOTSUPP"
      ? "Landlock is off: add it to the kernel's list, as in the boot parameter lsm=landlock,…"
      : "The kernel has no Landlock: it came with Linux 5.13, with CONFIG_SECURITY_LANDLOCK=y.",
  architecture: () => "System calls can be filtered on x64 and arm64 only.",
  "user-namespace": () =>
    "Without root Landlock can't keep the modes and times of files as they are, and this machine gives users no namespace to hold them in (sysctl kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns, user.max_user_namespaces).",
  "mount-namespace": () =>
    "Root may make no mount namespace here (CAP_SYS_ADMIN), which a workspace needs that lies in a folder of root's.",
  daemon: () => "The service ended.",
};
