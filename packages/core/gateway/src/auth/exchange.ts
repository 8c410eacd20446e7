/**
 * A request that is being answered to a device: when the device is revoked, or the page signed out that sent it, it is
 * answered 401, and its connection ends.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { errorReply, type Reply } from "../http/reply.ts";
import type { Send } from "../http/send.ts";
import type { EndReason, Opener, Streams } from "./streams.ts";

const ENDED: Readonly<Record<EndReason, Reply>> = {
  revoked: errorReply("UNAUTHORIZED", { message: "This device was revoked." }),
  "signed-out": errorReply("UNAUTHORIZED", { message: "The page was signed out." }),
};

/** Call the result to let it end by itself after all. */
export function openExchange(
  streams: Streams,
  opener: Opener,
  send: Send,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): () => void {
  const release = streams.open(opener, (why) => {
    // Half an answer can't be taken back; what is left of it stays here.
    if (outgoing.headersSent) outgoing.destroy();
    else {
      outgoing.shouldKeepAlive = false;
      send(incoming, outgoing, ENDED[why]);
    }
  });
  // Not `once`: it costs more, on every request, and there is only one close.
  outgoing.on("close", release);
  return release;
}
