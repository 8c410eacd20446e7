/** What Node's HTTP parser refuses before there is a request: answered in the same shape as everything else. */
import type { Socket } from "node:net";
import { STATUS_CODES } from "node:http";
import type { ErrorCode } from "@svc/contract";
import { isAnsweredAlready, responseInFlight } from "./in-flight.ts";
import { endAndLinger } from "./linger.ts";
import { errorReply, type Reply } from "./reply.ts";

const CODES: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: "HEADERS_TOO_LARGE",
  HPE_CHUNK_EXTENSIONS_OVERFLOW: "TOO_LARGE",
  ERR_HTTP_REQUEST_TIMEOUT: "REQUEST_TIMEOUT",
};

/** Listener for the server's `clientError`. */
export function onClientError(error: NodeJS.ErrnoException, stream: unknown): void {
  const socket = stream as Socket;
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const inFlight = responseInFlight(socket);
  if (inFlight && (inFlight.req.complete || inFlight.headersSent)) {
    // The broken bytes follow a request that is being answered, or are the rest of one that was refused unread: its answer
    // is sent, and the connection ends with it.
    inFlight.shouldKeepAlive = false;
    if (inFlight.req.complete) {
      socket.pause();
      if (inFlight.headersSent) inFlight.once("finish", () => socket.destroySoon());
    } else {
      // All of it is written. Its own end would close the connection at once, and what is unread then throws the end of a
      // long answer away.
      endAndLinger(socket, "");
    }
    return;
  }
  // A second answer to one request would be taken for the answer to the next.
  if (isAnsweredAlready(socket)) endAndLinger(socket, "");
  else replyAndLinger(socket, errorReply(CODES[error.code ?? ""] ?? "BAD_REQUEST"));
}

/** Listener for the server's `connect`: without one Node closes the connection and says nothing. We are no proxy. */
export function onConnect(_request: unknown, stream: unknown): void {
  const socket = stream as Socket;
  // Node has let go of the socket; what the client does to it from now on must not end the process.
  socket.on("error", () => socket.destroy());
  replyAndLinger(socket, errorReply("BAD_REQUEST"));
}

/** Answers on a connection that Node's server no longer looks after, and ends it. `more`: headers. */
export function replyAndLinger(socket: Socket, { status, headers, body }: Reply, more: readonly string[] = []): void {
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\nconnection: close\r\n`;
  const all = [...headers, ...more];
  for (let index = 0; index < all.length; index += 2) head += `${all[index]}: ${all[index + 1]}\r\n`;
  endAndLinger(socket, `${head}\r\n${body}`);
}
