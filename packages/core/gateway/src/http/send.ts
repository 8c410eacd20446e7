/** Writes a reply, and decides what becomes of the connection when the request's body was not read to its end. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "@svc/contract";
import { answered, declaredBytes, dropBody, requestIdHeader } from "./request.ts";
import type { Reply } from "./reply.ts";
import { holdUnread } from "./request-budget.ts";

/** An unread body up to this size is read and dropped, and the connection stays; a longer one is not waited for. */
const DROPPABLE_BYTES = 1_048_576;
/** How long, and how much, a client that is still sending may send on before it is cut off. */
const LINGER_MS = 2_000;
const LINGER_BYTES = 8 * 1_048_576;

export type Send = (incoming: IncomingMessage, outgoing: ServerResponse, reply: Reply) => void;

export function sender(clock: Clock, isDraining: () => boolean): Send {
  return (incoming, outgoing, reply) => {
    if (outgoing.headersSent || outgoing.destroyed) return;
    const body = declaredBytes(incoming);
    const isLast = isDraining() || !outgoing.shouldKeepAlive;
    const { status } = reply;
    const headers = status < 500 ? reply.headers : [...reply.headers, ...requestIdHeader(status)];
    if (body > (isLast ? 0 : DROPPABLE_BYTES) && !incoming.complete) {
      sendAndLinger(incoming, outgoing, reply, headers, clock);
      answered(outgoing, status);
      return;
    }
    // A client that keeps its connection through a shutdown would find it closed under its next request.
    outgoing.writeHead(status, (isLast ? closing(headers) : headers) as string[]);
    outgoing.end(reply.body, reply.encoding);
    if (!incoming.complete) dropBody(incoming, body);
    endIfUnread(outgoing, clock);
    answered(outgoing, status);
  };
}

/** Adds `Connection: close` to an existing `Connection` header: with two such headers a proxy sees only one. */
function closing(headers: readonly string[]): string[] {
  const at = headers.indexOf("connection") + 1;
  return at === 0 ? [...headers, "connection", "close"] : headers.with(at, `${headers[at]}, close`);
}

/**
 * Answers at once but closes late. Closing while bytes are still coming in makes the kernel send a reset, which throws
 * away the answer on the client's side before it was read: a 413 would look like a crash.
 */
function sendAndLinger(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { status, body }: Reply,
  headers: readonly string[],
  clock: Clock,
): void {
  outgoing.writeHead(status, closing(headers));
  outgoing.write(body);
  // Where there is no body, as with 204, nothing has been sent so far.
  outgoing.flushHeaders();
  const end = () => {
    cancel();
    outgoing.end();
    endIfUnread(outgoing, clock);
  };
  const cancel = clock.after(LINGER_MS, end);
  let dropped = 0;
  incoming.on("data", (chunk: Buffer) => {
    dropped += chunk.length;
    if (dropped > LINGER_BYTES) end();
  });
  incoming.once("error", end).once("close", end).once("end", end);
  incoming.resume();
}

// Ends a connection whose client does not take its answer. Nothing else would: to Node it is at work, and each one keeps a
// descriptor, the answer and the kernel's buffers for as long as its client likes.

/** As much as a request may take to come in. */
const TAKE_MS = 120_000;

/** Call when all of the answer is written. */
export function endIfUnread(outgoing: ServerResponse, clock: Clock): void {
  const { socket } = outgoing;
  if (socket !== null && socket.writableLength === 0) return;
  holdUnread(outgoing);
  const watch = (): void =>
    void outgoing.once(
      "close",
      clock.after(TAKE_MS, () => outgoing.destroy()),
    );
  // Behind an answer that is still being made (a turn may take an hour) its time has not begun.
  if (socket === null) outgoing.once("socket", watch);
  else watch();
}
