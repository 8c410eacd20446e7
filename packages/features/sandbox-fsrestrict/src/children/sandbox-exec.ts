/**
 * `svc __sandbox-exec`: restricts itself by its first line, waits for a command, and becomes it. One is kept waiting in its
 * restrictions, so that a command waits neither for the start of this runtime nor for the kernel.
 */
import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { call, defaultSignals, endAfter, execute, exit, SystemError } from "../child/libc.ts";
import { landlockAbi } from "../child/landlock.ts";
import { limitMemory, limitPids } from "../child/limits.ts";
import { prepare, restrict } from "../child/restrict.ts";
import { gotThrough } from "../child/trial.ts";
import { workAlone } from "../child/user-namespace.ts";
import { type CommandRequest, type Report, REPORT_FD, REQUEST_FD, type SandboxRequest } from "../request.ts";

export async function run(): Promise<number> {
  if (process.getuid!() !== 0) workAlone();
  const filters = prepare();
  const nextLine = lineReader();
  const first = nextLine();
  if (first === "") return 0;
  try {
    endAfter(LONGEST_SECS);
    const request = JSON.parse(first) as SandboxRequest;
    if (request.kind === "trial") {
      const abi = landlockAbi();
      restrict(request, filters);
      report({ kind: "tried", abi, through: gotThrough(request.restriction.network) });
      return exit(0);
    }
    const hasPidsLimit = restrict(request, filters);
    defaultSignals();
    report({ kind: "restricted" });
    endAfter(0);
    const second = nextLine();
    if (second === "") return exit(0);
    endAfter(LONGEST_SECS);
    become(JSON.parse(second) as CommandRequest, request, hasPidsLimit);
  } catch (error) {
    report(failureOf(error));
  }
  // This runtime would wait for its other threads, which may have been ended: see user-namespace.ts.
  return exit(FAILED);
}

/** What hangs here for so long does not come to an end by itself. */
const LONGEST_SECS = 10;

/** EX_UNAVAILABLE; the daemon goes by the report. */
const FAILED = 69;

function become(command: CommandRequest, request: SandboxRequest, hasPidsLimit: boolean): void {
  const { words, folder, env, hasInput, userPids } = command;
  if (!hasInput) closeInput();
  // By a command's user now: one that waits did not know the folder while it was root.
  if (folder !== request.folder) process.chdir(folder);
  if (userPids !== undefined) limitPids(userPids);
  else if (!hasPidsLimit) throw new SystemError("pids", "EINVAL");
  report({ kind: "begins" });
  endAfter(0);
  const { memoryMb } = request.restriction.limits;
  if (memoryMb !== undefined) limitMemory(memoryMb);
  report({ kind: "not-executed", errno: execute(words, env) });
}

/** Gives the next line, without its end. Empty: the daemon has ended, or needs no command. */
function lineReader(): () => string {
  const chunk = Buffer.alloc(65_536);
  let read = Buffer.alloc(0);
  return () => {
    for (;;) {
      const end = read.indexOf("\n");
      if (end !== -1) {
        const line = read.toString("utf8", 0, end);
        read = read.subarray(end + 1);
        return line;
      }
      const length = readSync(REQUEST_FD, chunk);
      if (length === 0) return "";
      read = Buffer.concat([read, chunk.subarray(0, length)]);
    }
  };
}

const report = (what: Report): void => void writeSync(REPORT_FD, `${JSON.stringify(what)}\n`);

function failureOf(error: unknown): Report {
  if (error instanceof SystemError) return { kind: "failed", step: error.message, errno: error.errno };
  const { syscall, code } = error as { syscall?: unknown; code?: unknown };
  return { kind: "failed", step: typeof syscall === "string" ? syscall : "child", errno: String(code ?? "unknown") };
}

/** A command without input reads an empty one, as elsewhere. */
function closeInput(): void {
  const fd = openSync("/dev/null", "r");
  call("dup3", "dup3", fd, 0, 0);
  closeSync(fd);
}
