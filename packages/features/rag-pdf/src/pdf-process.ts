/** One process that reads one PDF: starts, feeds, limits and ends it. Its failure never affects the daemon. */
import { type Clock, SvcError } from "@svc/contract";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { parse } from "node:path";
import type { Readable } from "node:stream";
import * as v from "valibot";
import {
  INFO_KEYS,
  MAX_INFO_CHARS,
  MAX_PAGE_CHARS,
  type PageRange,
  type PdfFailure,
  type PdfLine,
} from "./protocol.ts";

export interface PdfProcessOptions {
  /** Program and first arguments. */
  readonly command: readonly [file: string, ...args: string[]];
  readonly clock: Pick<Clock, "after">;
  readonly limits: Limits;
  readonly signal: AbortSignal;
}

/**
 * The results for these pages, line by line. Iterator and process end together: a caller that stops iterating ends both.
 * Rejects with PDF_TOO_MUCH beyond a limit, TOOL_FAILED, what `pieces` rejects with, and the signal's reason.
 */
export async function* tellPages(
  pieces: AsyncIterable<Uint8Array>,
  ranges: readonly PageRange[],
  options: PdfProcessOptions,
): AsyncGenerator<PdfLine> {
  const { signal, clock, limits } = options;
  signal.throwIfAborted();
  const child = start(options.command);
  const ended = new Promise<ExitOf>((resolve) => {
    child.once("error", (cause) => resolve({ cause }));
    child.once("close", (_code, killed) => resolve({ killed }));
  });
  let reason: unknown;
  const end = (why: unknown): void => {
    reason ??= why;
    child.kill("SIGKILL");
  };
  const onAbort = (): void => end(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  const cancels = [clock.after(limits.timeMs, () => end(tooMuch("time"))), watchMemory(child, options, end)];
  feed(child, ranges, pieces).catch(end);
  try {
    yield* linesFrom(child.stdout!, limits.outputBytes);
    const exit = await ended;
    // Killed by no one here: by its own watch, by the kernel for want of memory, or by an error of the engine.
    if (reason === undefined) throw exit.killed ? tooMuch("memory") : broken(exit.cause);
    throw reason;
  } catch (error) {
    throw reason ?? error;
  } finally {
    for (const cancel of cancels) cancel();
    signal.removeEventListener("abort", onAbort);
    child.kill("SIGKILL");
    for (const pipe of child.stdio) pipe?.destroy();
    // Until it is gone, its memory is not free for the next one.
    await ended;
  }
}

interface ExitOf {
  readonly killed?: string | null;
  readonly cause?: unknown;
}

/** In its own process group, so that the daemon handles Ctrl-C at the terminal; without the daemon's environment. */
function start([file, ...args]: PdfProcessOptions["command"]): ChildProcess {
  const child = spawn(file, args, {
    cwd: parse(process.execPath).root,
    env: {},
    stdio: ["pipe", "pipe", "ignore", "pipe"],
    detached: true,
    windowsHide: true,
  });
  // The pipe that closes with this process; text/inside-watch.ts has the other end.
  child.stdio[3]?.on("error", () => undefined);
  return child;
}

const INTERVAL_MS = 50;

function watchMemory(
  child: ChildProcess,
  { clock, limits }: PdfProcessOptions,
  end: (why: unknown) => void,
): () => void {
  let cancel = (): void => undefined;
  let isOver = false;
  const look = async (): Promise<void> => {
    const bytes = child.pid === undefined ? undefined : await memoryOf(child.pid);
    if (bytes !== undefined && bytes > limits.memoryBytes) end(tooMuch("memory"));
    if (!isOver) cancel = clock.after(INTERVAL_MS, () => void look());
  };
  void look();
  return () => {
    isOver = true;
    cancel();
  };
}

/** Rejects with the error of `pieces`. If the process stops reading, its end reports the cause. */
async function feed(
  { stdin }: ChildProcess,
  ranges: readonly PageRange[],
  pieces: AsyncIterable<Uint8Array>,
): Promise<void> {
  let isClosed = false;
  stdin!.on("error", () => (isClosed = true)).on("close", () => (isClosed = true));
  const write = (chunk: string | Uint8Array): Promise<void> =>
    new Promise((resolve) => void stdin!.write(chunk, () => resolve()));
  await write(`${JSON.stringify({ ranges })}\n`);
  for await (const piece of pieces) {
    if (isClosed) return;
    await write(piece);
  }
  stdin!.end();
}

const broken = (cause: unknown): SvcError =>
  new SvcError("TOOL_FAILED", "The process that reads PDFs can't be started, or ended without an answer.", { cause });

/** What reading one PDF may take. */
export interface Limits {
  /** Of the file. */
  readonly fileBytes: number;
  /** Of the process, its program included. */
  readonly memoryBytes: number;
  readonly timeMs: number;
  /** Of all it tells, as JSON. */
  readonly outputBytes: number;
}

export const LIMITS: Limits = {
  fileBytes: 64 * 1024 * 1024,
  memoryBytes: 512 * 1024 * 1024,
  timeMs: 60_000,
  outputBytes: 256 * 1024 * 1024,
};

/**
 * Lines of JSON, each checked: a file may have taken over the process that writes them. Rejects with PDF_TOO_MUCH beyond
 * `maxBytes`, TOOL_FAILED for an invalid line.
 */
async function* linesFrom(output: Readable, maxBytes: number): AsyncGenerator<PdfLine> {
  let bytes = 0;
  let open: Buffer[] = [];
  for await (const chunk of output as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw tooMuch("text");
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      yield lineOf(Buffer.concat([...open, chunk.subarray(start, end)]));
      open = [];
      start = end + 1;
    }
    if (start < chunk.byteLength) open.push(chunk.subarray(start));
  }
}

function lineOf(bytes: Buffer): PdfLine {
  try {
    return v.parse(lineSchema, JSON.parse(bytes.toString("utf8"))) as PdfLine;
  } catch {
    throw new SvcError("TOOL_FAILED", "The process that reads PDFs answered something else than text.");
  }
}

const count = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(1e9));
const info = v.pipe(v.string(), v.maxLength(MAX_INFO_CHARS));

const lineSchema = v.union([
  v.strictObject({
    document: v.strictObject({
      pages: count,
      info: v.strictObject(Object.fromEntries(INFO_KEYS.map((key) => [key, v.optional(info)]))),
    }),
  }),
  v.strictObject({
    page: count,
    text: v.pipe(v.string(), v.maxLength(MAX_PAGE_CHARS)),
    damaged: v.optional(v.literal(true)),
  }),
  v.strictObject({ end: v.literal(true) }),
  v.strictObject({ failed: v.picklist(["encrypted", "invalid", "too-much"]) }),
]);

/** Bytes of memory and swap that a process has, as the kernel counts them; undefined: it has ended, or no one can tell. */
async function memoryOf(pid: number): Promise<number | undefined> {
  if (process.platform === "win32") return undefined; // The process watches itself (text/inside-watch.ts).
  return process.platform === "linux" ? fromProc(pid) : fromPs(pid);
}

/** proc(5): `VmRSS:     1234 kB`. A process that has ended and is not collected yet has no such line. */
async function fromProc(pid: number): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, "latin1").catch(() => "");
  const kibibytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status)?.[1] ?? 0);
  return status === "" ? undefined : (kibibytes("VmRSS") + kibibytes("VmSwap")) * 1024;
}

function fromPs(pid: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    execFile("/bin/ps", ["-o", "rss=", "-p", String(pid)], (error, stdout) => {
      resolve(error ? undefined : Number(stdout.trim()) * 1024);
    });
  });
}

/** PDF_TOO_MUCH, with what there was too much of. */
export const tooMuch = (what: "memory" | "time" | "text" | "file"): SvcError =>
  new SvcError("PDF_TOO_MUCH", SENTENCES[what], {
    hint:
      what === "file"
        ? "Split the file first."
        : "Ask for fewer pages; a file that does this with one page may be made to do so.",
  });

const SENTENCES = {
  memory: "Reading the PDF takes more memory than it may.",
  time: "Reading the PDF takes longer than it may.",
  text: "The PDF gives more text at once than may be read.",
  file: "The PDF is larger than 64 MiB, which is the most that is read.",
} as const;

export const notAPdf = (): SvcError => new SvcError("PDF_INVALID", "The file is no PDF: it does not begin as one.");

export function failed(failure: PdfFailure): SvcError {
  if (failure === "too-much") return tooMuch("text");
  if (failure === "invalid")
    return new SvcError("PDF_INVALID", "The file is damaged, or cut off: no page of it can be found.");
  return new SvcError("PDF_ENCRYPTED", undefined, {
    hint: "Save a copy without a password, or ask its owner for one.",
  });
}
