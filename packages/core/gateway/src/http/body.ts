/** Reads a request's body as bytes, never more of it than is allowed. */
import type { IncomingMessage, ServerResponse } from "node:http";

/** Why there is no body: larger than allowed, or the client went away in the middle of it. */
export type BodyProblem = "too-large" | "gone";

const EMPTY = Buffer.alloc(0);

/**
 * The whole body. A declared length beyond the limit is refused unread; without one (chunked) it is counted while it
 * comes in. After `too-large` the rest is still coming: the reply decides what to do with it.
 */
export function readBody(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  maxBytes: number,
): Promise<Buffer | BodyProblem> | Buffer | BodyProblem {
  const declared = declaredBytes(incoming);
  if (declared === 0) return EMPTY;
  if (declared > maxBytes && declared !== Infinity) return "too-large";
  // A client that asked first (Expect: 100-continue) sends nothing until it is told to.
  if (incoming.headers.expect !== undefined) outgoing.writeContinue();
  return new Promise((resolve) => {
    let only: Buffer | undefined;
    let chunks: Buffer[] | undefined;
    let length = 0;
    const settle = (result: Buffer | BodyProblem) => {
      incoming.off("data", onData).off("end", onEnd).off("close", onClose);
      resolve(result);
    };
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      if (length > maxBytes) {
        chunks = only = undefined;
        incoming.pause();
        settle("too-large");
      } else if (only === undefined) only = chunk;
      else (chunks ??= [only]).push(chunk);
    };
    const onEnd = () => settle(chunks ? Buffer.concat(chunks, length) : (only ?? EMPTY));
    const onClose = () => settle("gone");
    // `aborted` arrives as an error, and an error nobody listens to ends the process.
    incoming.on("data", onData).on("end", onEnd).on("error", ignore).on("close", onClose);
  });
}

/** Bytes the request says its body has; Infinity when it is chunked and says nothing. */
export function declaredBytes(incoming: IncomingMessage): number {
  const { headers } = incoming;
  if (headers["transfer-encoding"] !== undefined) return Infinity;
  // The strict parser let it through, so it is a whole number.
  const length = headers["content-length"];
  return length === undefined ? 0 : Number(length);
}

const ignore = () => {};
