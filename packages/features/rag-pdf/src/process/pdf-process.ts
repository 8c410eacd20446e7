/** One process that reads one PDF: started, fed, watched and ended. Whatever it does, the service goes on. */
import { type ChildProcess, spawn } from "node:child_process";
import { parse } from "node:path";
import { type Clock, SvcError } from "@svc/contract";
import type { PageRange, PdfLine } from "../protocol.ts";
import type { Limits } from "./limits.ts";
import { linesFrom } from "./lines-from.ts";
import { memoryOf } from "./memory-of.ts";
import { tooMuch } from "./pdf-errors.ts";

export interface PdfProcessOptions {
  /** Program and first arguments. */
  readonly command: readonly [file: string, ...args: string[]];
  readonly clock: Pick<Clock, "after">;
  readonly limits: Limits;
  readonly signal: AbortSignal;
}

/**
 * What is told of these pages, line by line. It ends with the process, and the process with it: whoever stops asking ends both.
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
    // Killed by nobody here: by its own watch, by the kernel for want of memory, or by an error of the engine.
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

/** In a group of its own, so that Ctrl-C at the terminal is the service's to handle; with nothing of its environment. */
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

/** Rejects with what `pieces` rejects with. A process that takes no more is told of by its end. */
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
