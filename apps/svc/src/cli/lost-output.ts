/** What becomes of the process when nobody can read what it writes. */
import { EXIT } from "@svc/contract";

/**
 * A reader that goes away early (`svc status | head`) is not an error; a full disk under a redirected output is one.
 * A daemon outlives both: losing its log must not lose its turns.
 */
export function watchOutput(isDaemon: boolean): void {
  process.stderr.on("error", () => {});
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (!isDaemon) endFor(error);
  });
}

/** Ends the process. */
export function endFor(error: NodeJS.ErrnoException): never {
  if (error.code === "EPIPE") process.exit(EXIT.ok);
  process.stderr.write(`svc: the output could not be written (${error.code ?? "unknown"})\n`);
  process.exit(EXIT.io);
}
