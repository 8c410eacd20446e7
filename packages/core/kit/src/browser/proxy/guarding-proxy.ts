/**
 * The only way out of a browser of ours: a proxy on this machine that lets through what the guard lets through. Navigations,
 * redirects, frames, scripts, fetches, WebSockets, workers and downloads all come by here, and each connection goes to the very
 * address that was checked, so that a name which answers differently the second time (DNS rebinding) gains nothing.
 *
 * It does not look into TLS: a tunnel to an allowed host carries what that host takes.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { Clock, Logger } from "@svc/contract";
import type { ProxyAccess } from "../driver.ts";
import type { BrowserGuard } from "../guard.ts";
import { freshCredentials, NO_CREDENTIALS } from "./credentials.ts";
import { forward, MAX_HEADER_BYTES } from "./forward.ts";
import { answerRaw } from "./refuse.ts";
import { type Refusals, refusalList } from "./refusals.ts";
import { tunnel } from "./tunnel.ts";

export interface GuardingProxy extends Pick<Refusals, "mark" | "since"> {
  readonly access: ProxyAccess;
  /** Ends every connection. Idempotent. */
  close(): Promise<void>;
}

export interface GuardingProxyOptions {
  readonly guard: BrowserGuard;
  readonly clock: Clock;
  readonly log: Logger;
  /** Whether it asks for a password. Default: true. */
  readonly password?: boolean | undefined;
}

/** What its ways through share. */
export interface ProxyParts extends GuardingProxyOptions {
  readonly refusals: Refusals;
  /** Ends with the proxy. */
  track(socket: Duplex): void;
  closing(): boolean;
}

export async function startGuardingProxy(options: GuardingProxyOptions): Promise<GuardingProxy> {
  const { fit, username, password } = options.password === false ? NO_CREDENTIALS : freshCredentials();
  const refusals = refusalList();
  const sockets = new Set<Duplex>();
  let closed: Promise<void> | undefined;
  const track = (socket: Duplex): void => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  };
  const parts: ProxyParts = { ...options, refusals, track, closing: () => closed !== undefined };

  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES, requestTimeout: 0, keepAliveTimeout: 30_000 });
  server.maxConnections = MAX_CONNECTIONS;
  server.on("connection", track);
  server.on("clientError", (_, socket) => socket.destroy());
  server.on("request", (request, response) => {
    if (fit(request.headers["proxy-authorization"])) return void forward(request, response, parts);
    response.writeHead(407, { "proxy-authenticate": CHALLENGE, connection: "close", "content-length": "0" }).end();
  });
  server.on("connect", (request, socket, head) => {
    if (fit(request.headers["proxy-authorization"])) return void tunnel(request, socket, head, parts);
    answerRaw(socket, 407, [`Proxy-Authenticate: ${CHALLENGE}`]);
  });
  const port = await listening(server);
  return {
    access: { server: `http://127.0.0.1:${port}`, username, password },
    mark: refusals.mark,
    since: refusals.since,
    close: () => (closed ??= ended(server, sockets)),
  };
}

const CHALLENGE = 'Basic realm="svc"';

/** A browser opens a few dozen; one that goes mad takes no more of this process's files. */
const MAX_CONNECTIONS = 512;

function listening(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}

function ended(server: Server, sockets: ReadonlySet<Duplex>): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    for (const socket of sockets) socket.destroy();
  });
}
