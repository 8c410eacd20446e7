/** Reads a request's body as bytes, never more of it than is allowed. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { type Logger, SvcError } from "@svc/contract";
import type { MemoryRoom, Place } from "./memory-budget.ts";
import { errorReply, type Reply } from "./reply.ts";
import { declaredBytes } from "./request.ts";
import type { Send } from "./send.ts";

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

const ignore = () => {};

// JSON bodies: the content type they must come with.

/** 415 unless it is `application/json`, with any parameters, not compressed. */
export function refuseContentType(headers: IncomingHttpHeaders): Reply | undefined {
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    return errorReply("BAD_CONTENT_TYPE", { message: "The body must be sent uncompressed." });
  }
  return isJsonType(headers["content-type"]) ? undefined : errorReply("BAD_CONTENT_TYPE");
}

export function isJsonType(contentType: string | undefined): boolean {
  if (contentType === "application/json") return true;
  return contentType !== undefined && /^application\/json[ \t]*(?:;|$)/i.test(contentType);
}

// A body that is too large for memory, handed on piece by piece.

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

// Answers of those routes that need a request's body first.

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
