/**
 * Connections that could not be accepted. Node tells them as an error of the server, and an error nobody listens to ends the
 * process: whoever opens enough connections to use up the file descriptors would stop the service.
 */
import type { Server } from "node:http";
import type { Clock, Logger } from "@svc/contract";

const LOG_EVERY_MS = 60_000;

export function outliveAcceptErrors(server: Server, clock: Clock, log: Logger): void {
  let saidAtMs = -Infinity;
  let refused = 0;
  server.on("error", (error: NodeJS.ErrnoException) => {
    refused += 1;
    const nowMs = clock.monotonic();
    if (nowMs - saidAtMs < LOG_EVERY_MS) return;
    log.error("connections are refused: they could not be accepted", { cause: error.code ?? error.message, refused });
    saidAtMs = nowMs;
    refused = 0;
  });
}
