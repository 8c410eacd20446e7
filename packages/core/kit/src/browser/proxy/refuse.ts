import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { SvcError } from "@svc/contract";
import { shownHost } from "../guard.ts";
import type { ProxyParts } from "./guarding-proxy.ts";

/** Notes a refusal, and says with which status the browser is answered. */
export function refuse(host: string, error: unknown, { refusals, log }: ProxyParts): 403 | 502 {
  if (!(error instanceof SvcError) || !(error.code === "DOMAIN_REFUSED" || error.code === "ADDRESS_REFUSED"))
    return 502;
  refusals.add({ host: shownHost(host.toLowerCase()), error });
  log.debug("a browser's request was refused", { code: error.code });
  return 403;
}

/** The answer to a CONNECT that made no tunnel. */
export function answerRaw(socket: Duplex, status: number, headers: readonly string[] = []): void {
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...headers,
    "Content-Length: 0",
    "Connection: close",
    "",
    "",
  ];
  if (!socket.destroyed) socket.end(lines.join("\r\n"), () => socket.destroy());
}
