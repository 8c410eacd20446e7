/** Bodies of requests: content type, size, and the memory they take. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { SvcError } from "@svc/contract";
import { type Reply, errorReply } from "./reply.ts";
import { declaredBytes } from "./request.ts";
import { type Link, LinkedList } from "@svc/runtime";

/** Why there is no body: larger than allowed, or the client went away in the middle of it. */
export type BodyProblem = "too-large" | "gone";

type Read<Problem> = Promise<Buffer | Problem> | Buffer | Problem;

const EMPTY: Buffer = Buffer.alloc(0);

/**
 * The whole body. A declared length beyond the limit is refused unread; without one (chunked) it is counted while it
 * comes in. After `too-large` and `memory-full` the rest is still coming: the reply decides what to do with it.
 */
export function readBody(incoming: IncomingMessage, outgoing: ServerResponse, maxBytes: number): Read<BodyProblem>;
/** For unauthenticated callers. `memory-full`: the body was dropped to make room for others. */
export function readBody(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  maxBytes: number,
  memory: MemoryBudget,
): Read<BodyProblem | "memory-full">;
export function readBody(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  maxBytes: number,
  memory?: MemoryBudget,
): Read<BodyProblem | "memory-full"> {
  const declared = declaredBytes(incoming);
  if (declared === 0) return EMPTY;
  if (declared > maxBytes && declared !== Infinity) return "too-large";
  // A client with `Expect: 100-continue` sends nothing before this reply.
  if (incoming.headers.expect !== undefined) outgoing.writeContinue();
  return new Promise((resolve) => {
    let held = EMPTY;
    let length = 0;
    let place: MemoryHolder | undefined;
    const settle = (result: Buffer | BodyProblem | "memory-full") => {
      incoming.off("data", onData).off("end", onEnd).off("close", onClose);
      if (place) memory?.leave(place);
      resolve(result);
    };
    const giveUp = (why: "too-large" | "memory-full") => {
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
      if (memory === undefined || length === declared) return;
      place ??= memory.join(() => giveUp("memory-full"));
      memory.hold(place, held.length);
    };
    const onEnd = () => settle(held.length === length ? held : held.subarray(0, length));
    const onClose = () => settle("gone");
    // `aborted` arrives as an error, and an error event without a listener ends the process.
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

export const MEMORY_FULL = errorReply("BUSY", {
  message: "Too many deliveries are coming in at the same time; try again shortly.",
  retryAfterMs: 1_000,
});

const MOST_BYTES = 64 * 1_048_576;

/**
 * A bound on memory that clients make the service hold, over all of them together: bodies that are still coming in, answers that are not
 * read, messages of WebSockets that have no end yet. Each of them may have its share for as long as it likes to take, so a bound on one of
 * them bounds nothing. Past the bound the oldest holder gives up its share: honest work ends within moments.
 */
export class MemoryBudget {
  readonly #most: number;
  readonly #places = new LinkedList<MemoryHolder>();
  #bytes = 0;

  constructor(most = MOST_BYTES) {
    this.#most = most;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Adds a holder. `giveUp` is called at most once, after its share was taken away. */
  join(giveUp: () => void): MemoryHolder {
    const place = new MemoryHolder(giveUp);
    place.link = this.#places.add(place);
    return place;
  }

  /** Sets how many bytes the holder has now. */
  hold(place: MemoryHolder, bytes: number): void {
    if (place.link === undefined) return;
    this.#bytes += bytes - place.bytes;
    place.bytes = bytes;
    // The last body stays at any size: otherwise a body larger than the budget could never arrive.
    while (this.#bytes > this.#most && this.#places.size > 1) {
      const oldest = this.#places.first!;
      this.leave(oldest);
      oldest.giveUp();
    }
  }

  leave(place: MemoryHolder): void {
    if (place.link === undefined) return;
    this.#places.delete(place.link);
    this.#bytes -= place.bytes;
    place.link = undefined;
  }
}

export class MemoryHolder {
  readonly giveUp: () => void;
  bytes = 0;
  link: Link<MemoryHolder> | undefined;

  constructor(giveUp: () => void) {
    this.giveUp = giveUp;
  }
}
