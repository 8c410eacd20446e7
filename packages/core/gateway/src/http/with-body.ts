/** Answers of those routes that need a request's body first. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "@svc/contract";
import { readBody } from "./body.ts";
import type { MemoryRoom } from "./memory-room.ts";
import { errorReply, type Reply } from "./reply.ts";
import type { Send } from "./send.ts";

export interface WithBodyDeps {
  readonly send: Send;
  readonly log: Logger;
  readonly isDraining: () => boolean;
  /** Of bodies that may be large. */
  readonly room?: MemoryRoom;
}

export const NO_ROOM = errorReply("BUSY", {
  message: "Too many deliveries are coming in at the same time; try again shortly.",
  retryAfterMs: 1_000,
});

/** Reads the body, then answers; 413 when it is too large, nothing when the client is gone. Always undefined. */
export function withBody(
  deps: WithBodyDeps,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  maxBytes: number,
  answer: (body: Buffer) => Promise<Reply>,
): undefined {
  const { send, log, isDraining, room } = deps;
  void (async () => {
    const body = await (room ? readBody(incoming, outgoing, maxBytes, room) : readBody(incoming, outgoing, maxBytes));
    // Answered already: the device was revoked while its message came in, and must not have a turn for it.
    if (body === "gone" || outgoing.headersSent) return;
    if (body === "too-large") send(incoming, outgoing, errorReply("TOO_LARGE"));
    else if (body === "no-room") send(incoming, outgoing, NO_ROOM);
    // The shutdown may have begun while the body came in, and waits for no turn that begins after it.
    else if (isDraining()) send(incoming, outgoing, errorReply("DRAINING"));
    else send(incoming, outgoing, await answer(body));
  })().catch((error: unknown) => {
    log.error("a request failed unexpectedly", { cause: error instanceof Error ? error.message : "unknown" });
    send(incoming, outgoing, errorReply("INTERNAL"));
  });
}
