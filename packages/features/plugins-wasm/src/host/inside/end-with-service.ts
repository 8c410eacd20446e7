/**
 * Ends this process when the service ends, however it does: a plugin in an endless loop never gets to see its input end. The
 * pipe is one that nobody writes to, so that reading from it returns when the other end is gone.
 */
import { Worker } from "node:worker_threads";
import { LIFELINE } from "../frames.ts";

export function endWithService(): void {
  // There, what is not one of the three standard streams can't be read like this. A loop without a service ends at no time.
  if (process.platform === "win32") return;
  // As a text: a binary has no file that a worker could be loaded from.
  const watch = `try { require("node:fs").readSync(${LIFELINE}, new Uint8Array(1)); } finally { process.kill(process.pid, "SIGKILL"); }`;
  // Its own output: to join it with this process's, Node would take that one over, and writing there would wait no more.
  new Worker(watch, { eval: true, env: {}, stdout: true, stderr: true }).unref();
}
