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

/** Whether a request was answered while its body is still coming in; read from the parser for the same reason. */
export function isAnsweredAlready(socket: Socket): boolean {
  const { parser } = socket as Socket & { parser?: { readonly incoming?: IncomingMessage | null } | null };
  return responseInFlight(socket) === undefined && parser?.incoming?.complete === false;
}
