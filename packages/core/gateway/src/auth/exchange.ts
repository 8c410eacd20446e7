/** A request that is being answered to a device: when the device is revoked it is answered 401, and its connection ends. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Device } from "@svc/store";
import { errorReply } from "../http/reply.ts";
import type { Send } from "../http/send.ts";
import type { Streams } from "./streams.ts";

const REVOKED = errorReply("UNAUTHORIZED", { message: "This device was revoked." });

/** Call the result to let it end by itself after all. */
export function openExchange(
  streams: Streams,
  device: Pick<Device, "id">,
  send: Send,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): () => void {
  const release = streams.open(device, () => {
    // Half an answer can't be taken back; what is left of it stays here.
    if (outgoing.headersSent) outgoing.destroy();
    else {
      outgoing.shouldKeepAlive = false;
      send(incoming, outgoing, REVOKED);
    }
  });
  // Not `once`: it costs more, on every request, and there is only one close.
  outgoing.on("close", release);
  return release;
}
