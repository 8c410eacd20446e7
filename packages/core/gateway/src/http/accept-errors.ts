/**
 * Connections that could not be accepted. Node tells them as an error of the server, and an error nobody listens to ends the
 * process: whoever opens enough connections to use up the file descriptors would stop the service.
 */
import type { Server } from "node:http";
import type { Clock, Logger } from "@svc/contract";
import { RareLines } from "../rare-lines.ts";

export function outliveAcceptErrors(server: Server, clock: Clock, log: Logger): void {
  const lines = new RareLines(clock);
  server.on("error", (error: NodeJS.ErrnoException) => {
    const cause = error.code ?? error.message;
    const refused = lines.note();
    if (refused > 0) log.error("connections are refused: they could not be accepted", { cause, refused });
  });
}
