/** Reads PDFs, each in its own process: starts, feeds, limits and ends it. A failure there never affects the daemon. */
import { type Clock, type FeatureContext, type SharedHandle, SvcError, type ToolContext } from "@svc/contract";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { parse } from "node:path";
import type { Readable } from "node:stream";
import * as v from "valibot";
import {
  type DocumentFacts,
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
async function* tellPages(
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

/** Limits of reading one PDF. */
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

/** Memory and swap of a process in bytes, as the kernel counts them; undefined if it has ended or the system can't tell. */
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

/** PDF_TOO_MUCH, naming the exceeded limit. */
const tooMuch = (what: "memory" | "time" | "text" | "file"): SvcError =>
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

const notAPdf = (): SvcError => new SvcError("PDF_INVALID", "The file is no PDF: it does not begin as one.");

function failed(failure: PdfFailure): SvcError {
  if (failure === "too-much") return tooMuch("text");
  if (failure === "invalid")
    return new SvcError("PDF_INVALID", "The file is damaged, or cut off: no page of it can be found.");
  return new SvcError("PDF_ENCRYPTED", undefined, {
    hint: "Save a copy without a password, or ask its owner for one.",
  });
}

// The queue: a few PDFs at a time.

export interface PageOfPdf {
  readonly page: number;
  /** Empty where it is missing: a scan, perhaps. */
  readonly text: string;
  /** Something is there that can't be read. */
  readonly isDamaged: boolean;
}

/** Callbacks for the results; `page` returns whether to read the next page. */
interface PageTaker {
  document(facts: DocumentFacts): void;
  page(page: PageOfPdf): boolean;
}

export interface PdfPages {
  /** Rejects with PDF_*, with what the workspace rejects with, and with the signal's reason. */
  read(
    path: string,
    ranges: readonly PageRange[],
    taker: PageTaker,
    context: Pick<ToolContext, "clientId" | "signal" | "workspace">,
  ): Promise<void>;
}

export function pdfPages(
  { child, clock, shared, perClient }: FeatureContext<unknown>,
  limits: Limits = LIMITS,
): PdfPages {
  // One file at a time for one client, two for all: a client with hostile files holds up no other.
  const own = perClient("reading", () => null);
  const places = [shared("place-1", null), shared("place-2", null)];
  return {
    async read(path, ranges, taker, { clientId, signal, workspace }) {
      signal.throwIfAborted();
      const { bytes: first } = await workspace.read(path, HEAD_BYTES);
      if (!Buffer.from(first).includes("%PDF-")) throw notAPdf();
      const pieces = piecesOf(path, workspace, limits.fileBytes);
      const read = async (): Promise<void> => {
        const command = child("pdf-text");
        for await (const line of tellPages(pieces, ranges, { command, clock, limits, signal })) {
          if ("failed" in line) throw failed(line.failed);
          if ("end" in line) return;
          if ("document" in line) taker.document(line.document);
          else if (!taker.page({ page: line.page, text: line.text, isDamaged: line.damaged === true })) return;
        }
      };
      await own.of(clientId).write(() => inFreePlace(places, read, signal), signal);
    },
  };
}

/** Where readers look for the header: `%PDF-` may come after something else. */
const HEAD_BYTES = 1024;
const PIECE_BYTES = 1_048_576;

async function* piecesOf(
  path: string,
  workspace: ToolContext["workspace"],
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  for (let offset = 0; ;) {
    const { bytes, truncated } = await workspace.read(path, PIECE_BYTES, offset);
    offset += bytes.byteLength;
    if (offset > maxBytes || (offset === maxBytes && truncated)) throw tooMuch("file");
    yield bytes;
    if (!truncated || bytes.byteLength === 0) return;
  }
}

/** Runs the work when a slot is free. */
async function inFreePlace(
  places: readonly SharedHandle<null>[],
  work: () => Promise<void>,
  signal: AbortSignal,
): Promise<null> {
  let isTaken = false;
  await new Promise<void>((resolve, reject) => {
    for (const place of places) {
      const once = async (): Promise<null> => {
        if (isTaken) return null;
        isTaken = true;
        await work().then(resolve, reject);
        return null;
      };
      place.write(once, signal).catch(reject);
    }
  });
  return null;
}
