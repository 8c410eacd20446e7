/** What Node's HTTP parser refuses before there is a request: answered in the same shape as everything else. */
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { STATUS_CODES } from "node:http";
import type { ErrorCode } from "@svc/contract";
import { errorReply } from "./reply.ts";

const CODES: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: "HEADERS_TOO_LARGE",
  HPE_CHUNK_EXTENSIONS_OVERFLOW: "TOO_LARGE",
  ERR_HTTP_REQUEST_TIMEOUT: "REQUEST_TIMEOUT",
};

/** Listener for the server's `clientError`. */
export function onClientError(error: NodeJS.ErrnoException, stream: unknown): void {
  // `_httpMessage` is the response in flight on the socket. Node's own default handler reads it for the same reason.
  const socket = stream as Socket & { _httpMessage?: ServerResponse | null };
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const inFlight = socket._httpMessage;
  if (inFlight && inFlight.req.complete) {
    // The broken bytes follow a request that is being answered: its answer is sent, and the connection ends with it.
    socket.pause();
    inFlight.shouldKeepAlive = false;
    if (inFlight.headersSent) inFlight.once("finish", () => socket.destroySoon());
    return;
  }
  if (inFlight?.headersSent) {
    socket.destroy();
    return;
  }
  const { status, headers, body } = errorReply(CODES[error.code ?? ""] ?? "BAD_REQUEST");
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\nconnection: close\r\n`;
  for (let index = 0; index < headers.length; index += 2) head += `${headers[index]}: ${headers[index + 1]}\r\n`;
  socket.end(`${head}\r\n${body}`, () => socket.destroy());
}
