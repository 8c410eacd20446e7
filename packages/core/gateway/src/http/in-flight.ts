/** The response that a connection is busy with. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * Undefined when the connection is idle or its request is not all here yet, headers included. Read from `_httpMessage`,
 * as Node's own handler of parser errors does; a table of our own would cost every request.
 */
export function responseInFlight(socket: Socket): ServerResponse | undefined {
  return (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage ?? undefined;
}

/** Whether a request was answered while its body is still coming in. */
export const isAnsweredAlready = (socket: Socket): boolean =>
  responseInFlight(socket) === undefined && parserOf(socket)?.incoming?.complete === false;

/**
 * Whether nothing is being done for it: there is no request, or all of its answer is written and its client does not take
 * it. A connection that was upgraded has no parser any more, and is at work.
 */
export const isIdle = (socket: Socket): boolean =>
  responseInFlight(socket)?.writableEnded !== false && parserOf(socket) !== undefined;

/** False once the connection has left HTTP, or is closed. */
export const hasParser = (socket: Socket): boolean => parserOf(socket) !== undefined;

/** Node's server pauses a connection whose answers pile up, and its parser with it: fed meanwhile, it throws. */
export const isPausedByNode = (socket: Socket): boolean => (socket as Socket & { _paused?: boolean })._paused === true;

interface Parser {
  readonly incoming?: IncomingMessage | null;
}

const parserOf = (socket: Socket): Parser | undefined =>
  (socket as Socket & { parser?: Parser | null }).parser ?? undefined;
