/** Plain http: each request for itself, in absolute form (RFC 9112 3.2.2), to an address that was checked. */
import { type IncomingMessage, type ServerResponse, request as httpRequest } from "node:http";
import { pipeline } from "node:stream";
import { SvcError } from "@svc/contract";
import { dial } from "./dial.ts";
import type { ProxyParts } from "./guarding-proxy.ts";
import { endWhenIdle } from "./idle.ts";
import { refuse } from "./refuse.ts";

export async function forward(request: IncomingMessage, response: ServerResponse, parts: ProxyParts): Promise<void> {
  const url = targetOf(request);
  if (url === undefined) return answer(response, 400, "This is a proxy for one browser.");
  try {
    const addresses = await parts.guard.check(`http://${url.host}/`);
    const socket = await dial(addresses, Number(url.port || 80), parts.clock);
    if (request.socket.destroyed || parts.closing()) return void socket.destroy();
    parts.track(socket);
    endWhenIdle([socket], IDLE_MS, parts.clock);
    response.once("close", () => socket.destroy());
    const upstream = httpRequest({
      createConnection: () => socket,
      method: request.method,
      path: `${url.pathname}${url.search}`,
      headers: [...endToEnd(request.rawHeaders), ...framing(request), "Connection", "close"],
      setHost: false,
      maxHeaderSize: MAX_HEADER_BYTES,
    });
    upstream.once("error", () => response.destroy());
    upstream.once("response", (incoming) => {
      if (begin(response, incoming)) pipeline(incoming, response, () => undefined);
      else socket.destroy();
    });
    pipeline(request, upstream, () => undefined);
  } catch (error) {
    if (refuse(url.hostname, error, parts) === 403) answer(response, 403, (error as SvcError).message);
    // A page of ours in the place of one that can't be reached would be taken for it.
    else response.destroy();
  }
}

/** False: a status or a header that Node reads and does not write. An error that is thrown here would end the service. */
function begin(response: ServerResponse, { statusCode = 502, statusMessage, rawHeaders }: IncomingMessage): boolean {
  try {
    response.writeHead(statusCode, statusMessage, endToEnd(rawHeaders));
    return true;
  } catch {
    response.destroy();
    return false;
  }
}

/** Node frames the body of a GET or DELETE only when it is told to: bare, it would be read as the next request. */
const framing = ({ headers }: IncomingMessage): string[] =>
  headers["transfer-encoding"] === undefined ? [] : ["Transfer-Encoding", "chunked"];

const IDLE_MS = 120_000;
export const MAX_HEADER_BYTES = 65_536;

/** `Host` must be the target's: a server with many sites would answer as another one. */
function targetOf({ url: text = "", headers, rawHeaders }: IncomingMessage): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "http:" || url.username !== "" || url.password !== "") return undefined;
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === "host").length;
  const named = headers.host?.toLowerCase().replace(/:80$/, "");
  return hosts === 1 && named === url.host ? url : undefined;
}

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    "content-type": "text/plain; charset=utf-8",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    connection: "close",
  });
  response.end(`${text}\n`);
}

/** Without the headers of one connection (RFC 9110 7.6.1), the proxy's password among them. */
function endToEnd(raw: readonly string[]): string[] {
  const pairs = raw.flatMap((name, index) => (index % 2 === 0 ? [[name, raw[index + 1] ?? ""] as const] : []));
  const named = pairs.filter(([name]) => name.toLowerCase() === "connection").flatMap(([, value]) => value.split(","));
  const dropped = new Set([...HOP_BY_HOP, ...named.map((name) => name.trim().toLowerCase())]);
  for (const name of KEPT) dropped.delete(name);
  return pairs.filter(([name]) => !dropped.has(name.toLowerCase())).flat();
}

/** Whatever `Connection` names: without them a request goes to another site, or its body is read as the next one. */
const KEPT = ["host", "content-length"];

const HOP_BY_HOP = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authentication-info",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];
