/**
 * `svc __pdf-text`: the process in which a PDF is read. It takes bytes and gives text: no argument, no path, no environment, no
 * request. Anyone who wrote the file may take this process over or bring it down, and nothing else.
 */
import { fstatSync } from "node:fs";
import { setPriority } from "node:os";
import { LIFELINE_FD, MAX_MEMORY_BYTES, type PagesRequest, type PdfLine } from "../protocol.ts";
import { Worker } from "node:worker_threads";

const NO_USE = 64;

export async function run(args: readonly string[]): Promise<number | undefined> {
  if (args.length > 0 || !hasLifeline()) return NO_USE;
  watchFromInside(LIFELINE_FD, MAX_MEMORY_BYTES);
  // No one reads any more: then there is no one to tell why.
  process.stdout.on("error", () => process.exit(1));
  makeWay();
  withoutTheWorld(globalThis, console);
  const { request, bytes } = await input();
  const { readPdf } = await import("../read-pdf.ts");
  for await (const line of readPdf(bytes, request)) await tell(line);
  return 0;
}

/** Only the parent that started it for this purpose passes the pipe. */
function hasLifeline(): boolean {
  try {
    const pipe = fstatSync(LIFELINE_FD);
    return pipe.isSocket() || pipe.isFIFO();
  } catch {
    return false;
  }
}

/** Low priority: an expensive file must not slow the daemon. */
function makeWay(): void {
  try {
    setPriority(10);
  } catch {
    // Not everywhere, and nothing depends on it.
  }
}

async function input(): Promise<{ request: PagesRequest; bytes: Uint8Array<ArrayBuffer> }> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  const all = Buffer.concat(chunks);
  const line = all.indexOf(10);
  const request = JSON.parse(all.toString("utf8", 0, line)) as PagesRequest;
  // Copied: pdf.js takes the whole buffer for itself.
  return { request, bytes: new Uint8Array(all.subarray(line + 1)) };
}

/** Resolves once the line is taken: what no one reads is not worked out. */
const tell = (line: PdfLine): Promise<void> =>
  new Promise((resolve, reject) => {
    process.stdout.write(`${JSON.stringify(line)}\n`, (error) => (error ? reject(error) : resolve()));
  });

// A thread that ends the process: when anyone who started it is gone, and when it takes too much memory. Reading is synchronous, so
// that nothing on the main thread would be told in time; a parent that was killed watches nothing from outside.

const INTERVAL_MS = 25;

function watchFromInside(lifeline: number, maxBytes: number): void {
  const thread = new Worker(WATCH, {
    eval: true,
    env: {},
    workerData: { lifeline, maxBytes, intervalMs: INTERVAL_MS },
    resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 2, stackSizeMb: 1 },
  });
  thread.once("error", endNow);
  thread.unref();
}

// As text: in the binary, a thread can't load a file.
const WATCH = `
const { Socket } = require("node:net");
const { workerData: { lifeline, maxBytes, intervalMs } } = require("node:worker_threads");
const endNow = () => process.kill(process.pid, "SIGKILL");
new Socket({ fd: lifeline, readable: true, writable: false }).on("error", endNow).on("close", endNow).resume();
setInterval(() => process.memoryUsage.rss() > maxBytes && endNow(), intervalMs);
`;

const endNow = (): void => void process.kill(process.pid, "SIGKILL");

/**
 * pdf.js can fetch fonts, CMaps and WebAssembly modules by URL. Here it has no fetch function; it gets allowed files passed in
 * (cmaps.ts).
 */
function withoutTheWorld(world: object, console: Console): void {
  for (const name of ["fetch", "WebSocket", "EventSource", "XMLHttpRequest", "WebAssembly", "Worker", "navigator"]) {
    Object.defineProperty(world, name, { value: undefined, configurable: true, writable: true });
  }
  // Its warnings quote the file, and the output is for lines of JSON.
  for (const name of ["log", "info", "warn", "error", "debug", "trace"] as const) console[name] = () => undefined;
}
