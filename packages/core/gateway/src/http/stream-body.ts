/** A body that is too large for memory, handed on piece by piece. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { SvcError } from "@svc/contract";
import { declaredBytes } from "./body.ts";

/**
 * Resolves when `write` has all of it. A declared length beyond the limit is refused unread; a body without one is counted while it
 * comes in. Throws TOO_LARGE, BAD_REQUEST when the client went away, UNAUTHORIZED when it was shut out meanwhile, and what `write`
 * throws.
 */
export async function streamBody(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  maxBytes: number,
  write: (chunk: Uint8Array) => Promise<void>,
): Promise<void> {
  const declared = declaredBytes(incoming);
  if (declared > maxBytes && declared !== Infinity) throw new SvcError("TOO_LARGE");
  if (incoming.headers.expect !== undefined) outgoing.writeContinue();
  let length = 0;
  try {
    // Where it ends early the connection stays: the answer has to be read.
    for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
      const bytes = chunk as Buffer;
      // It has its answer already: the device was revoked, or the page signed out.
      if (outgoing.headersSent) throw new SvcError("UNAUTHORIZED");
      length += bytes.length;
      if (length > maxBytes) throw new SvcError("TOO_LARGE");
      await write(bytes);
    }
  } catch (error) {
    if (error instanceof SvcError) throw error;
    throw new SvcError("BAD_REQUEST", "The body was cut off.", { cause: error });
  }
  if (!incoming.complete) throw new SvcError("BAD_REQUEST", "The body was cut off.");
  if (outgoing.headersSent) throw new SvcError("UNAUTHORIZED");
}
