/** Reads a request's body as bytes, never more of it than is allowed. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { MemoryRoom, Place } from "./memory-room.ts";

/** Why there is no body: larger than allowed, or the client went away in the middle of it. */
export type BodyProblem = "too-large" | "gone";

type Read<Problem> = Promise<Buffer | Problem> | Buffer | Problem;

const EMPTY: Buffer = Buffer.alloc(0);

/**
 * The whole body. A declared length beyond the limit is refused unread; without one (chunked) it is counted while it
 * comes in. After `too-large` and `no-room` the rest is still coming: the reply decides what to do with it.
 */
export function readBody(incoming: IncomingMessage, outgoing: ServerResponse, maxBytes: number): Read<BodyProblem>;
/** For those who have proved nothing yet. `no-room`: others needed what it took. */
export function readBody(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  maxBytes: number,
  room: MemoryRoom,
): Read<BodyProblem | "no-room">;
export function readBody(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  maxBytes: number,
  room?: MemoryRoom,
): Read<BodyProblem | "no-room"> {
  const declared = declaredBytes(incoming);
  if (declared === 0) return EMPTY;
  if (declared > maxBytes && declared !== Infinity) return "too-large";
  // A client that asked first (Expect: 100-continue) sends nothing until it is told to.
  if (incoming.headers.expect !== undefined) outgoing.writeContinue();
  return new Promise((resolve) => {
    let held = EMPTY;
    let length = 0;
    let place: Place | undefined;
    const settle = (result: Buffer | BodyProblem | "no-room") => {
      incoming.off("data", onData).off("end", onEnd).off("close", onClose);
      if (place) room?.leave(place);
      resolve(result);
    };
    const giveUp = (why: "too-large" | "no-room") => {
      held = EMPTY;
      incoming.pause();
      settle(why);
    };
    const onData = (chunk: Buffer) => {
      const before = length;
      length += chunk.length;
      if (length > maxBytes) {
        giveUp("too-large");
        return;
      }
      held = before === 0 ? chunk : appended(held, before, chunk, maxBytes);
      // Most bodies come in one piece, and are gone in the same instant.
      if (room === undefined || length === declared) return;
      place ??= room.enter(() => giveUp("no-room"));
      room.hold(place, held.length);
    };
    const onEnd = () => settle(held.length === length ? held : held.subarray(0, length));
    const onClose = () => settle("gone");
    // `aborted` arrives as an error, and an error nobody listens to ends the process.
    incoming.on("data", onData).on("end", onEnd).on("error", ignore).on("close", onClose);
  });
}

/**
 * Into one buffer that doubles, not a list of pieces: a body sent as a million chunks of one byte would be a million objects,
 * and take a hundred times its size.
 */
function appended(held: Buffer, length: number, chunk: Buffer, maxBytes: number): Buffer {
  const needed = length + chunk.length;
  let into = held;
  if (needed > held.length) {
    into = Buffer.allocUnsafeSlow(Math.min(maxBytes, Math.max(4096, 2 * needed)));
    held.copy(into, 0, 0, length);
  }
  chunk.copy(into, length);
  return into;
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
