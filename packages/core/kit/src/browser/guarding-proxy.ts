/**
 * The only way out of a browser of ours: a proxy on this machine that lets through what the guard lets through. Navigations,
 * redirects, frames, scripts, fetches, WebSockets, workers and downloads all come by here, and each connection goes to the very
 * address that was checked, so that a name which answers differently the second time (DNS rebinding) gains nothing.
 *
 * It does not look into TLS: a tunnel to an allowed host carries what that host takes.
 */
import { type Clock, type Logger, SvcError } from "@svc/contract";
import { randomBytes } from "node:crypto";
import {
  createServer,
  type IncomingMessage,
  request as httpRequest,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { type Duplex, pipeline } from "node:stream";
import { equalSecrets } from "../signatures.ts";
import type { ProxyAccess } from "./driver.ts";
import { type BrowserGuard, shownHost } from "./guard.ts";

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

/** Shared by the proxy's request paths. */
interface ProxyDeps extends GuardingProxyOptions {
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
  const parts: ProxyDeps = { ...options, refusals, track, closing: () => closed !== undefined };

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

/** Plain http: each request for itself, in absolute form (RFC 9112 3.2.2), to an address that was checked. */
async function forward(request: IncomingMessage, response: ServerResponse, parts: ProxyDeps): Promise<void> {
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

/** Node frames the body of a GET or DELETE only with this header: unframed, it would be read as the next request. */
const framing = ({ headers }: IncomingMessage): string[] =>
  headers["transfer-encoding"] === undefined ? [] : ["Transfer-Encoding", "chunked"];

const IDLE_MS = 120_000;
const MAX_HEADER_BYTES = 65_536;

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

/** Kept even if `Connection` names them: without them a request goes to another site, or its body is read as the next one. */
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

/** CONNECT: TLS and WebSockets, as bytes to an address that was checked (RFC 9110 9.3.6). */
async function tunnel(request: IncomingMessage, socket: Duplex, head: Buffer, parts: ProxyDeps): Promise<void> {
  socket.on("error", () => socket.destroy());
  const target = tunnelTargetOf(request);
  if (target === undefined) return answerRaw(socket, 400);
  try {
    const addresses = await parts.guard.check(`https://${target.host}:${target.port}/`);
    const upstream = await dial(addresses, target.port, parts.clock);
    if (socket.destroyed || parts.closing()) {
      socket.destroy();
      upstream.destroy();
      return;
    }
    parts.track(upstream);
    join(socket, upstream);
    endWhenIdle([socket, upstream], TUNNEL_IDLE_MS, parts.clock);
    socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
    if (head.length > 0) upstream.write(head);
  } catch (error) {
    answerRaw(socket, refuse(target.host, error, parts));
  }
}

/** A WebSocket may be silent for long; a forgotten one does not stay for ever. */
const TUNNEL_IDLE_MS = 600_000;

interface Target {
  readonly host: string;
  readonly port: number;
}

/** A browser asks for the same host twice, in the request line and in `Host`: anyone who does not is none. */
function tunnelTargetOf({ url = "", headers }: IncomingMessage): Target | undefined {
  const [, host, digits] = /^(\[[0-9a-f:.]+\]|[^\s:/@?#[\]\\%]+):([0-9]{1,5})$/i.exec(url) ?? [];
  const port = Number(digits);
  if (host === undefined || port < 1 || port > 65_535) return undefined;
  const named = headers.host?.toLowerCase();
  return named === `${host.toLowerCase()}:${port}` || named === host.toLowerCase() ? { host, port } : undefined;
}

function join(one: Duplex, other: Duplex): void {
  one.pipe(other);
  other.pipe(one);
  one.once("close", () => other.destroy());
  other.once("close", () => one.destroy());
}

// A connection to exactly the addresses that were checked: no name is resolved here.

/** The first of the addresses that takes a connection. Throws REMOTE_UNREACHABLE. */
async function dial(addresses: readonly string[], port: number, clock: Pick<Clock, "after">): Promise<Socket> {
  for (const address of addresses) {
    const socket = await dialOne(address, port, clock);
    if (socket !== undefined) return socket;
  }
  throw new SvcError("REMOTE_UNREACHABLE");
}

function dialOne(host: string, port: number, clock: Pick<Clock, "after">): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, allowHalfOpen: true, noDelay: true });
    const end = (outcome: Socket | undefined): void => {
      cancel();
      if (outcome === undefined) socket.destroy();
      resolve(outcome);
    };
    const cancel = clock.after(CONNECT_TIMEOUT_MS, () => end(undefined));
    socket.once("connect", () => end(socket));
    // Stays: a socket without a listener would end the process with its error.
    socket.on("error", () => end(undefined));
  });
}

/** For one address of several. */
const CONNECT_TIMEOUT_MS = 5000;

/** Who may use the proxy: the one browser that was told its password, and no other program of this machine. */
export interface Credentials {
  readonly username: string;
  readonly password: string;
  /** Whether a `Proxy-Authorization` header is theirs (RFC 7617). */
  fit(header: string | undefined): boolean;
}

function freshCredentials(): Credentials {
  const username = "svc";
  const password = randomBytes(24).toString("hex");
  const expected = Buffer.from(`${username}:${password}`).toString("base64");
  return {
    username,
    password,
    fit(header = "") {
      const [, given] = /^Basic +([A-Za-z0-9+/]+=*) *$/i.exec(header) ?? [];
      return given !== undefined && equalSecrets(given, expected);
    },
  };
}

/** For a browser that can't give any. */
const NO_CREDENTIALS: Credentials = { username: "", password: "", fit: () => true };

/** Notes a refusal, and says with which status the browser is answered. */
function refuse(host: string, error: unknown, { refusals, log }: ProxyDeps): 403 | 502 {
  if (!(error instanceof SvcError) || !(error.code === "DOMAIN_REFUSED" || error.code === "ADDRESS_REFUSED"))
    return 502;
  refusals.add({ host: shownHost(host.toLowerCase()), error });
  log.debug("a browser's request was refused", { code: error.code });
  return 403;
}

/** The answer to a CONNECT that made no tunnel. */
function answerRaw(socket: Duplex, status: number, headers: readonly string[] = []): void {
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

/** What the proxy did not let through: told with the action that it happened in. */
export interface Refusal {
  /** Fit to be shown. */
  readonly host: string;
  /** DOMAIN_REFUSED or ADDRESS_REFUSED. */
  readonly error: SvcError;
}

interface Refusals {
  add(refusal: Refusal): void;
  /** A place to ask from, later. */
  mark(): number;
  /** What was refused after that place, oldest first; of very many the last. */
  since(mark: number): readonly Refusal[];
}

/**
 * The newest that the page asked for, of those whose page isn't known. Chromium asks hosts of its maker by itself, at any
 * moment; a page may ask for the same ones, so that one of them counts where there is no other.
 */
export function newestOfPage(refusals: readonly Refusal[]): Refusal | undefined {
  return refusals.findLast(({ host }) => !OF_THE_BROWSER.test(host)) ?? refusals.at(-1);
}

const OF_THE_BROWSER = /(^|\.)(google(apis)?|gvt1)\.com$/;

export function refusalList(): Refusals {
  let seen = 0;
  const last: Refusal[] = [];
  return {
    add(refusal) {
      seen += 1;
      last.push(refusal);
      if (last.length > MAX_KEPT) last.shift();
    },
    mark: () => seen,
    since: (mark) => (seen > mark ? last.slice(Math.max(0, last.length - (seen - mark))) : []),
  };
}

/** A page that asks for thousands of forbidden things fills no memory. */
const MAX_KEPT = 200;

/** Ends connections that belong together when nothing has moved on any of them for `idleMs`. */
function endWhenIdle(sockets: readonly Duplex[], idleMs: number, clock: Pick<Clock, "after" | "monotonic">): void {
  let moved = clock.monotonic();
  let cancel: () => void = () => undefined;
  const look = (): void => {
    const left = moved + idleMs - clock.monotonic();
    // One timer for all pieces of data, however many.
    if (left > 0) cancel = clock.after(left, look);
    else for (const socket of sockets) socket.destroy();
  };
  for (const socket of sockets) {
    socket.on("data", () => (moved = clock.monotonic()));
    socket.once("close", () => cancel());
  }
  look();
}
