/**
 * `svc __sandbox-exec`: waits for one request, restricts itself, and becomes the command. One is kept waiting, unrestricted, so
 * that a command need not wait for the start of this runtime; when the daemon is gone it ends what the daemon's commands left.
 */
import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { call, defaultSignals, endAfter, execute, exit, SystemError } from "../child/libc.ts";
import { landlockAbi } from "../child/landlock.ts";
import { limitMemory } from "../child/limits.ts";
import { type Filters, prepare, restrict } from "../child/restrict.ts";
import { gotThrough } from "../child/trial.ts";
import { workAlone } from "../child/user-namespace.ts";
import { killMarked, MARKS } from "../marks.ts";
import { type CommandRequest, type Report, REPORT_FD, REQUEST_FD, type SandboxRequest } from "../request.ts";

/** `args`: the first mark of the daemon's commands. */
export async function run([firstMark]: readonly string[]): Promise<number> {
  if (process.getuid!() !== 0) workAlone();
  const filters = prepare();
  const text = readRequest();
  if (text === "") {
    const from = Number(firstMark);
    killMarked({ from, to: from + MARKS });
    return 0;
  }
  endAfter(LONGEST_SECS);
  try {
    begin(JSON.parse(text) as SandboxRequest, filters);
  } catch (error) {
    report(failureOf(error));
  }
  // This runtime would wait for its other threads, which may have been ended: see user-namespace.ts.
  return exit(FAILED);
}

/** What hangs here, whyever, is no command that runs for long. */
const LONGEST_SECS = 10;

/** EX_UNAVAILABLE; the daemon goes by the report. */
const FAILED = 69;

function begin(request: SandboxRequest, filters: Filters): void {
  const { run: what, restriction } = request;
  if (what.kind === "trial") {
    const abi = landlockAbi();
    restrict(request, filters, undefined);
    report({ kind: "tried", abi, through: gotThrough(restriction.network) });
    return;
  }
  if (!what.hasInput) closeInput();
  restrict(request, filters, what.folder);
  become(what, restriction.limits.memoryMb);
}

function become({ words, env }: CommandRequest, memoryMb: number | undefined): void {
  report({ kind: "restricted" });
  defaultSignals();
  endAfter(0);
  if (memoryMb !== undefined) limitMemory(memoryMb);
  report({ kind: "not-executed", errno: execute(words, env) });
}

/** Until the daemon closes its end. Empty: it has ended, or needs no more commands. */
function readRequest(): string {
  const chunks: Buffer[] = [];
  const chunk = Buffer.alloc(65_536);
  for (;;) {
    const length = readSync(REQUEST_FD, chunk);
    if (length === 0) return Buffer.concat(chunks).toString("utf8");
    chunks.push(Buffer.from(chunk.subarray(0, length)));
  }
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
