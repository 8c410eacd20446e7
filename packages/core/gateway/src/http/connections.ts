/** How many connections there are, and which of them are idle. */
import { readFileSync } from "node:fs";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Clock, Logger } from "@svc/contract";
import { ThrottledLog } from "../throttled-log.ts";

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

// The response that a connection is busy with.

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
const isIdle = (socket: Socket): boolean =>
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
