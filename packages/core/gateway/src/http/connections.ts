/** Connections: who is at the other end, how many there are, and which of them are idle. */
import { readFileSync } from "node:fs";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { type Socket, isIP } from "node:net";
import type { ClientId, Clock, Logger } from "@svc/contract";
import { ThrottledLog } from "../rate-limit.ts";
import ipaddr from "ipaddr.js";
import { mintAnonymousId } from "../identity.ts";

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

// The other end of a connection.

/** Facts about a connection, computed once and cached as long as its socket lives. */
export class Peer {
  /** Canonical address of the other end; the unspecified address when the socket is gone already. */
  readonly address: string;
  readonly limiterKey: string;
  readonly isLoopback: boolean;
  readonly #onClosed: (tell: () => void) => void;
  #clientId: ClientId | undefined;

  /** `onClosed`: runs its argument once the connection is closed. */
  constructor(remoteAddress: string | undefined, onClosed: (tell: () => void) => void = () => {}) {
    this.#onClosed = onClosed;
    this.address = canonicalAddress(remoteAddress ?? "") ?? "::";
    this.limiterKey = limiterKey(this.address);
    this.isLoopback = isLoopback(this.address);
  }

  /** The identity of this connection for a caller without a token. `onGone` runs when the connection closes. */
  clientIdUntil(onGone: (clientId: ClientId) => void): ClientId {
    if (this.#clientId === undefined) {
      const clientId = mintAnonymousId();
      this.#clientId = clientId;
      this.#onClosed(() => onGone(clientId));
    }
    return this.#clientId;
  }
}

const peers = new WeakMap<Socket, Peer>();

export function peerOf(socket: Socket): Peer {
  let peer = peers.get(socket);
  if (peer === undefined) {
    // A link-local peer carries a zone (`fe80::1%eth0`), which says which of our own interfaces it came in by.
    peer = new Peer(socket.remoteAddress?.split("%", 1)[0], (tell) => socket.once("close", tell));
    peers.set(socket, peer);
  }
  return peer;
}

// IP addresses as text: one spelling for each, so that they compare, and the block a limiter counts by.

/**
 * The canonical spelling (RFC 5952; an IPv4-mapped IPv6 address becomes the IPv4 one), or undefined for anything else.
 * Zone ids and the legacy IPv4 forms (`127.1`, octal, hex) are no addresses here: two parsers could read them apart.
 */
export function canonicalAddress(text: string): string | undefined {
  const version = isIP(text);
  if (version === 4) return text;
  if (version === 0 || text.includes("%")) return undefined;
  return ipaddr.process(text).toString();
}

/** What a limiter counts by: an IPv4 address, or the /64 that one IPv6 subscriber can roam in at will. */
export function limiterKey(address: string): string {
  if (!address.includes(":")) return address;
  const network = ipaddr.IPv6.parse(address).parts.slice(0, 4);
  return `${network.map((part) => part.toString(16)).join(":")}::/64`;
}

/** 127.0.0.0/8, ::1, and the first in its IPv4-mapped form. Any other text is not loopback. */
export function isLoopback(text: string): boolean {
  const address = canonicalAddress(text);
  return address !== undefined && (address === "::1" || address.startsWith("127."));
}

/** Whether an address is in any of the blocks. */
type AddressSet = (address: string) => boolean;

/** Blocks as `10.0.0.0/8`, `::1/128` or a bare address. Throws a plain `Error` that names the position, not the text. */
export function addressSet(blocks: readonly string[]): AddressSet {
  const ranges = blocks.map((block, index) => {
    try {
      return ipaddr.parseCIDR(block.includes("/") ? block : `${block}/${isIP(block) === 4 ? 32 : 128}`);
    } catch (cause) {
      throw new Error(`entry ${index + 1} is not an IP address or CIDR block`, { cause });
    }
  });
  return (text) => {
    const address = ipaddr.process(text);
    return ranges.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits));
  };
}
