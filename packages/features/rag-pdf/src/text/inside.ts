/**
 * A thread that ends the process: when anyone who started it is gone, and when it takes too much memory. Reading is synchronous, so
 * that nothing on the main thread would be told in time; a parent that was killed watches nothing from outside.
 */
import { Worker } from "node:worker_threads";

const INTERVAL_MS = 25;

export function watchFromInside(lifeline: number, maxBytes: number): void {
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
export function withoutTheWorld(world: object, console: Console): void {
  for (const name of ["fetch", "WebSocket", "EventSource", "XMLHttpRequest", "WebAssembly", "Worker", "navigator"]) {
    Object.defineProperty(world, name, { value: undefined, configurable: true, writable: true });
  }
  // Its warnings quote the file, and the output is for lines of JSON.
  for (const name of ["log", "info", "warn", "error", "debug", "trace"] as const) console[name] = () => undefined;
}
