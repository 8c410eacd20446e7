/** What came of a child, and of the command that it became. */
import { type Confinement, type ExecResult, SvcError } from "@svc/contract";
import { limitBySigns } from "@svc/kit/process";
import type { Report } from "./request.ts";

export function reportsIn(text: string): Report[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Report);
}

export interface Course {
  readonly reports: readonly Report[];
  readonly limits: Confinement["limits"];
  /** Its child waited before there was a command: another one may fare better. */
  readonly hadWaited: boolean;
}

/**
 * Throws SANDBOX_UNAVAILABLE where the command was not confined, NotBegun where another child should try, TOOL_BAD_INPUT where
 * its program could not be started.
 */
export function judge(result: ExecResult, { reports, limits, hadWaited }: Course): ExecResult {
  const failure = reports.find(({ kind }) => kind === "failed" || kind === "not-executed");
  if (failure?.kind === "failed") {
    throw hadWaited ? new NotBegun() : new SvcError("SANDBOX_UNAVAILABLE", sentence(failureReason(failure)));
  }
  if (failure?.kind === "not-executed") return notExecuted(failure.errno, result);
  const limit = limitBySigns(result, limits);
  if (reports.some(({ kind }) => kind === "begins")) return limit ? { ...result, limit } : result;
  // Ended on purpose before it began (a time-out), or by somebody else.
  if (result.timedOut) return result;
  throw new NotBegun();
}

/** Nothing of the command has run: it may be tried again. */
export class NotBegun extends SvcError {
  constructor() {
    super("SANDBOX_UNAVAILABLE", "The process that confines a command ended before the command began.");
  }
}

function notExecuted(errno: string, result: ExecResult): ExecResult {
  const reason = NOT_EXECUTED[errno];
  if (reason !== undefined) throw new SvcError("TOOL_BAD_INPUT", reason);
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

const sentence = (text: string): string => `${text[0]!.toUpperCase()}${text.slice(1)}.`;

/** Why a child could not confine itself, as the rest of a sentence. */
export function failureReason({ step, errno }: Extract<Report, { kind: "failed" }>): string {
  return REASONS[step]?.(errno) ?? `the kernel refused a part of the confinement (${step}: ${errno})`;
}

const REASONS: Readonly<Record<string, (errno: string) => string>> = {
  landlock: (errno) =>
    errno === "EOPNOTSUPP"
      ? "Landlock is off: put it into the kernel's list of modules, by the boot parameter lsm=landlock,…"
      : "the kernel has no Landlock, which came with Linux 5.13 (CONFIG_SECURITY_LANDLOCK=y)",
  architecture: () => "system calls are filtered on x64 and arm64 only",
  "user-namespace": () =>
    "without root a user namespace is needed to keep modes and times of files as they are, and this machine gives none (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns)",
  "mount-namespace": () =>
    "root may make no mount namespace here (CAP_SYS_ADMIN), which is needed to keep modes and times of files as they are, and for a workspace in a folder of root's",
  daemon: () => "the service has ended",
};
