/** A request over HTTP as a piece of work: from its route to its answer, or to the end of its client's patience. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { requestOf } from "./requests.ts";

/**
 * Runs what serves it. Where somebody watches it ends when the answer is handed over (`Send`), when the head of one is out
 * that will go on, as of a stream, or when its client is gone. `route`: asked for only then.
 */
export function watched(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  route: () => string,
  run: () => void,
): void {
  const request = requestOf(outgoing);
  if (request === undefined || !request.isWatched) {
    run();
    return;
  }
  const end = (): void => request.end(outgoing.headersSent ? outgoing.statusCode : undefined);
  outgoing.on("close", end);
  request.during(incoming, route(), run);
  if (outgoing.headersSent) end();
}
