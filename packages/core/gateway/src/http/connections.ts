/**
 * The node:http server and its connections: where it may listen, strict parsing, timers that only measure how long RECEIVING takes, how
 * many connections there may be, and how each ends.
 */
import { readFileSync } from "node:fs";
import {
  type IncomingMessage,
  type RequestListener,
  STATUS_CODES,
  type Server,
  type ServerResponse,
  createServer,
} from "node:http";
import { type AddressInfo, BoundSocket, type Socket, isIPv4 } from "node:net";
import { type Clock, type ErrorCode, type Logger, SvcError } from "@svc/contract";
import { ThrottledLog, isLoopback } from "../client.ts";
import { keepingAlive, withTimeout } from "@svc/kit/async";
import { systemClock } from "@svc/kit/system-clock";
import { OTHER, type Requests, type Watch, hasParser, parserOf } from "./request.ts";
import { type Reply, errorReply } from "./reply.ts";

const MAX_HEADER_BYTES = 16_384;
/** All headers must be here by then: a client that sends one byte a minute would hold a connection for ever. */
const HEADERS_TIMEOUT_MS = 20_000;
/** Headers and body. Counted only while the request comes in; a turn that runs for an hour is not cut by it. */
const REQUEST_TIMEOUT_MS = 120_000;
const TIMEOUT_CHECK_MS = 5_000;
/** Longer than the idle time of usual proxies (60 s): the side that reuses a connection must be the first to close it. */
const KEEP_ALIVE_MS = 65_000;
/** How often idle connections are looked for. */
const LOOK_MS = 5_000;

interface Listeners {
  readonly serve: RequestListener;
  readonly onUnknownExpectation: RequestListener;
  /** Whether a request is for the server's `upgrade`; all others are served as if they had not asked for one. */
  readonly isUpgrade: (incoming: IncomingMessage) => boolean;
}

/** Bounds what a connection has parsed ahead of its client. */
interface ParseBudget {
  each(listener: RequestListener): RequestListener;
  guard(server: Server): void;
}

export function createHttpServer(
  { serve, onUnknownExpectation, isUpgrade }: Listeners,
  requests: Pick<Requests, "each" | "watch">,
  budget: ParseBudget,
): Server {
  const guarded = refuseAmbiguous(requests.watch);
  const each = (listener: RequestListener): RequestListener => budget.each(hinting(requests.each(guarded(listener))));
  const server = createServer(
    {
      insecureHTTPParser: false,
      // A missing Host is refused by the host check, in the shape of every other error; Node would send an empty body.
      requireHostHeader: false,
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      // By `IdleConnections`: Node would set a timer behind each answer, and clear it with the next request.
      keepAliveTimeout: 0,
      noDelay: true,
      shouldUpgradeCallback: isUpgrade,
    },
    each(serve),
  );
  server.timeout = 0;
  // Node would silently drop the headers beyond its default of 2000; the size limit bounds them already.
  server.maxHeadersCount = 0;
  budget.guard(server);
  const idle = new IdleConnections(server);
  server.once("listening", () => {
    const looking = setInterval(() => idle.look(), LOOK_MS).unref();
    server.once("close", () => clearInterval(looking));
  });
  server.on("clientError", onClientError);
  server.on("connect", onConnect);
  // Checks run before the client sends the body; `readBody` sends 100 Continue.
  server.on("checkContinue", each(serve));
  server.on("checkExpectation", each(onUnknownExpectation));
  return server;
}

/** Answers tell a client how long it may keep its connection. */
const hinting =
  (listener: RequestListener): RequestListener =>
  (incoming, outgoing) => {
    (outgoing as Hinting)._keepAliveTimeout = KEEP_ALIVE_MS;
    listener(incoming, outgoing);
  };

interface Hinting extends ServerResponse {
  /** Node's own: the header `Keep-Alive` is made of it. */
  _keepAliveTimeout?: number;
}

/** Resolves with the port listened on. Throws ADDRESS_IN_USE, or CONFIG_INVALID when the address can't be had at all. */
export function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const failed = (cause: NodeJS.ErrnoException): void => {
      server.off("error", failed);
      reject(listenError(cause));
    };
    const listening = (): void => {
      server.off("error", failed);
      resolve((server.address() as AddressInfo).port);
    };
    server.on("error", failed);
    try {
      // Without a lookup: after it Node asks whether the address is of IPv6, and compiles that question for 5 ms.
      if (isIPv4(host)) server.listen(new BoundSocket({ host, port }), listening);
      else server.listen({ host, port }, listening);
    } catch (error) {
      failed(error as NodeJS.ErrnoException);
    }
  });
}

/** Tries to listen, and lets go. Our own port, which is in use by us, is taken to be free. Throws what `listen` rejects with. */
export async function checkListen(
  { host, port }: { readonly host: string; readonly port: number },
  ownPort: number,
): Promise<void> {
  const server = createServer();
  await listen(server, host, port === ownPort ? 0 : port);
  await new Promise((resolve) => server.close(resolve));
}

function listenError(cause: NodeJS.ErrnoException): SvcError {
  if (cause.code === "EADDRINUSE") {
    return new SvcError("ADDRESS_IN_USE", undefined, { hint: "Stop the other program, or set gateway.port.", cause });
  }
  return new SvcError("CONFIG_INVALID", `gateway.host and gateway.port can't be listened on (${cause.code}).`, {
    hint: "gateway.host must be an address of this machine; ports below 1024 need a privilege.",
    cause,
  });
}

// Whether listening on `gateway.host` would let other machines in. Checked before the socket exists.

/**
 * Anything but a loopback address or the name `localhost`. A blank host makes Node listen everywhere, and a name can
 * resolve to anything, so both are public.
 */
export const isPublicBind = (host: string): boolean => host.toLowerCase() !== "localhost" && !isLoopback(host);

/** `http://host:port` by which this machine reaches a gateway that listens on `host`: the unspecified address is none. */
export function localUrl(host: string, port: number): string {
  const isAny = host === "0.0.0.0" || host === "::" || host.trim() === "";
  return `http://${isAny ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host}:${port}`;
}

interface BindOptions {
  readonly host: string;
  readonly allow_public_bind: boolean;
  readonly require_pairing: boolean;
}

/** Throws PUBLIC_BIND. Without pairing a public address is always refused. */
export function checkBind(options: BindOptions): void {
  if (!isPublicBind(options.host)) return;
  if (!options.require_pairing) {
    throw new SvcError("PUBLIC_BIND", "gateway.require_pairing = false is only for a gateway bound to loopback.", {
      hint: 'Set gateway.host = "127.0.0.1", or gateway.require_pairing = true.',
    });
  }
  if (!options.allow_public_bind) {
    throw new SvcError("PUBLIC_BIND", undefined, {
      hint: 'Set gateway.host = "127.0.0.1" and put a reverse proxy in front, or gateway.allow_public_bind = true.',
    });
  }
}

/**
 * The same for settings that come while a socket is bound to `boundHost`, which stays as it is until a restart. Throws
 * PUBLIC_BIND.
 */
export function checkRebind(options: BindOptions, boundHost: string): void {
  checkBind(options);
  if (options.require_pairing || !isPublicBind(boundHost)) return;
  throw new SvcError(
    "PUBLIC_BIND",
    "gateway.require_pairing = false can't be in force yet: the gateway still listens on a public address.",
    { hint: "gateway.host changes with a restart: svc restart" },
  );
}

// How many connections there are, and which of them are idle.

/** Descriptors that are not for connections: database, logs, three pipes for each command, calls to the model. */
const RESERVED = 256;
/** Where the system allows a million files: each connection takes some 10 kB, and up to 16 of headers that have no end yet. */
const MOST = 16_384;
/** How many are looked at for one that is idle; each new connection may cost that much. */
const LOOKED_AT = 64;

export function limitConnections(server: Server, clock: Clock, log: Logger, most = mostConnections()): void {
  const open = new OpenConnections();
  const lines = new ThrottledLog(clock);
  server.on("connection", (socket) => {
    open.add(socket);
    if (open.size <= most) return;
    (open.takeIdle() ?? socket).destroy();
    if (lines.note() === 0) return;
    log.warn("idle connections are closed early: there are as many as the service can hold", { open: most });
  });
}

class OpenConnections {
  /** Both oldest first. A served socket moves only when it is looked at: doing so at once would cost every request. */
  readonly #unserved = new Set<Socket>();
  readonly #served = new Set<Socket>();

  add(socket: Socket): void {
    this.#unserved.add(socket);
    socket.once("close", () => this.#unserved.delete(socket) || this.#served.delete(socket));
  }

  get size(): number {
    return this.#unserved.size + this.#served.size;
  }

  /** Removes and returns the socket whose loss matters least. */
  takeIdle(): Socket | undefined {
    for (const socket of first(this.#unserved)) {
      const isServed = socket.bytesWritten > 0 && responseInFlight(socket) === undefined;
      if (!isServed && isIdle(socket)) return forget(this.#unserved, socket);
      if (!isServed) continue;
      this.#unserved.delete(socket);
      this.#served.add(socket);
    }
    for (const socket of first(this.#served)) if (isIdle(socket)) return forget(this.#served, socket);
    return undefined;
  }
}

/** Ends connections that have been answered, and have sent nothing for `KEEP_ALIVE_MS`. */
export class IdleConnections {
  /** Bytes read of each connection, and how often they were found to be as many since. */
  readonly #seen = new Map<Socket, { bytes: number; looks: number }>();

  constructor(server: Server) {
    server.on("connection", (socket) => {
      this.#seen.set(socket, { bytes: 0, looks: 0 });
      socket.once("close", () => this.#seen.delete(socket));
    });
  }

  /** Call every `LOOK_MS`. */
  look(): void {
    for (const [socket, seen] of this.#seen) {
      const bytes = socket.bytesRead;
      // Before its first request another limit holds, and what was upgraded is no HTTP any more.
      const isWaiting =
        bytes === seen.bytes && socket.bytesWritten > 0 && hasParser(socket) && !responseInFlight(socket);
      seen.bytes = bytes;
      seen.looks = isWaiting ? seen.looks + 1 : 0;
      if (seen.looks * LOOK_MS >= KEEP_ALIVE_MS) socket.destroy();
    }
  }
}

const first = (sockets: ReadonlySet<Socket>): Socket[] => Iterator.from(sockets).take(LOOKED_AT).toArray();

function forget(sockets: Set<Socket>, socket: Socket): Socket {
  sockets.delete(socket);
  return socket;
}

/** `descriptors`: how many the process may have. */
export const mostConnections = (descriptors: number = descriptorLimit()): number => {
  return Math.min(MOST, descriptors - Math.min(RESERVED, descriptors >> 1));
};

/** Infinity without a limit, as on Windows. */
function descriptorLimit(): number {
  try {
    const [, soft = ""] = /^Max open files\s+(\w+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return limitOf(soft);
  } catch {
    // The other systems tell it in a report that takes milliseconds to make.
    const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } };
    return limitOf(userLimits?.open_files?.soft);
  }
}

const limitOf = (value: unknown): number => (Number(value) > 0 ? Number(value) : Infinity);

// Connections that could not be accepted. Node reports them as an error of the server, and an error event without a listener
// ends the process: a client that exhausts the file descriptors would stop the daemon.

export function surviveAcceptErrors(server: Server, clock: Clock, log: Logger): void {
  const lines = new ThrottledLog(clock);
  server.on("error", (error: NodeJS.ErrnoException) => {
    const cause = error.code ?? error.message;
    const refused = lines.note();
    if (refused > 0) log.error("connections are refused: they could not be accepted", { cause, refused });
  });
}

// Requests whose end two parsers would see in different places (request smuggling). Node's parser refuses most of them and
// lets these through: a transfer coding beside `chunked`, which this server does not decode, and any transfer coding in
// HTTP/1.0, which has none (RFC 9112 section 6.1).

/** Such a request is answered 400, and its connection ends: nothing that follows on it is read as a request. */
function refuseAmbiguous(watch: Watch): (listener: RequestListener) => RequestListener {
  const { status, headers, body } = errorReply("BAD_REQUEST");
  const refused = new WeakSet<Socket>();
  return (listener) => (incoming, outgoing) => {
    // Sent in one piece with the refused one, it was parsed before the connection could be closed.
    if (refused.has(incoming.socket)) return;
    if (!isAmbiguous(incoming)) {
      listener(incoming, outgoing);
      return;
    }
    refused.add(incoming.socket);
    outgoing.shouldKeepAlive = false;
    watch(
      incoming,
      outgoing,
      () => OTHER,
      () => {
        outgoing.writeHead(status, headers as string[]);
        outgoing.end(body);
      },
    );
  };
}

function isAmbiguous(incoming: IncomingMessage): boolean {
  // The parser takes HTTP/0.9 and HTTP/2.0 too; the one ends with its first line, and the other is not text.
  if (incoming.httpVersion !== "1.1" && incoming.httpVersion !== "1.0") return true;
  const coding = incoming.headers["transfer-encoding"];
  return coding !== undefined && (coding.toLowerCase() !== "chunked" || incoming.httpVersion !== "1.1");
}

// What Node's HTTP parser refuses before there is a request: answered in the same shape as everything else.

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
      // The answer is written. Ending the socket now would close it at once, and the unread input would make the kernel
      // discard the end of a long answer.
      endAndLinger(socket, "");
    }
    return;
  }
  // A second answer to one request would be taken for the answer to the next.
  if (isAnsweredAlready(socket)) endAndLinger(socket, "");
  else replyAndLinger(socket, errorReply(CODES[error.code ?? ""] ?? "BAD_REQUEST"));
}

/** Listener for the server's `connect`: without one Node closes the connection and says nothing. We are no proxy. */
function onConnect(_request: unknown, stream: unknown): void {
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

// Ends a connection whose client may still be sending. Closing it at once makes the kernel send a reset, which throws away
// the answer on the client's side before it was read: a 431 would look like a crash.

/** How long, and how much, the client may send on before it is cut off. */
const LINGER_MS = 2_000;
const LINGER_BYTES = 8 * 1_048_576;

/** Sends `last`, says that no more will come, and reads into nothing until the client has ended too. */
export function endAndLinger(socket: Socket, last: string, clock: Pick<Clock, "after"> = systemClock): void {
  socket.end(last);
  // The parser has given up; what still comes must not reach it, or each piece would be one more parser error.
  socket.removeAllListeners("data");
  let dropped = 0;
  socket.on("data", (chunk: Buffer) => {
    dropped += chunk.length;
    if (dropped > LINGER_BYTES) socket.destroy();
  });
  socket.once("end", () => socket.destroySoon());
  // Counted from now, not from its last byte: of a socket that Node has let go of, as for an upgrade, no other limit holds,
  // and a stranger who goes on in drops would keep it for ever.
  socket.once(
    "close",
    clock.after(LINGER_MS, () => socket.destroy()),
  );
  socket.resume();
}

// The response that a connection is busy with.

/**
 * Undefined when the connection is idle or its request is not all here yet, headers included. Read from `_httpMessage`,
 * as Node's own handler of parser errors does; a table of our own would cost every request.
 */
export function responseInFlight(socket: Socket): ServerResponse | undefined {
  return (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage ?? undefined;
}

/** Whether a request was answered while its body is still coming in. */
const isAnsweredAlready = (socket: Socket): boolean =>
  responseInFlight(socket) === undefined && parserOf(socket)?.incoming?.complete === false;

/**
 * Whether nothing is being done for it: there is no request, or all of its answer is written and its client does not take
 * it. A connection that was upgraded has no parser any more, and is at work.
 */
const isIdle = (socket: Socket): boolean =>
  responseInFlight(socket)?.writableEnded !== false && parserOf(socket) !== undefined;

// How long a server that closes waits.

/** Whether `done` settled within `ms`. Rejects when it does. */
export async function within(done: Promise<unknown>, ms: number, clock: Clock): Promise<boolean> {
  const limit = { clock: keepingAlive(clock), timeoutMs: ms, error: () => LATE };
  try {
    await withTimeout(limit, () => done);
    return true;
  } catch (error) {
    if (error === LATE) return false;
    throw error;
  }
}

const LATE = new Error("the time is up");
