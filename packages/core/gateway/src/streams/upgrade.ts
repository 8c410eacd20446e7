/**
 * The way of a request that wants to be a WebSocket: door → who is it → room → handshake. On the server's own `upgrade` and
 * not through hono: the checks and their order are those of the other paths that are answered on the raw connection, a
 * refusal has the shape of every other one, and a stranger never reaches the library.
 */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Clock, Logger } from "@svc/contract";
import type { OpenWork } from "@svc/kernel";
import type { WebSocket, WebSocketServer } from "ws";
import { type Authenticator, type Principal, upgradeCredentials } from "../auth/authenticator.ts";
import type { Streams } from "../auth/device-connections.ts";
import { responseInFlight } from "../http/connections.ts";
import { replyAndLinger } from "../http/listen.ts";
import type { Handle, OwnRoute } from "../http/listener.ts";
import type { MemoryRoom } from "../http/memory-budget.ts";
import { errorReply, Reply } from "../http/reply.ts";
import { declaredBytes, targetOf } from "../http/request.ts";
import { type ClientResolver, peerOf } from "../middleware/client.ts";
import { enter, type HostRules } from "../middleware/host-check.ts";
import { requestIdHeader, type Requests } from "../middleware/tracing.ts";
import { Chat, type ChatDeps } from "./chat.ts";
import { serveSocket } from "./socket.ts";
import { EVENTS, type EventsDeps, eventsHandler, lastEventId, SOCKET } from "./sse.ts";
import type { Crowd } from "./subscribers.ts";

export type Upgrade = (incoming: IncomingMessage, socket: Socket, head: Buffer) => void;

export interface UpgradeDeps extends ChatDeps {
  readonly requests: Requests;
  readonly rules: HostRules;
  readonly crowd: Crowd;
  readonly library: SocketLibrary;
  readonly authenticator: Authenticator;
  readonly clientOf: ClientResolver;
  readonly streams: Streams;
  readonly messageRoom: MemoryRoom;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The one that is echoed; those beside it carry secrets. */
const SUBPROTOCOL = "svc.v1";

/** A handshake changes something: it is no page that a link leads to. */
const NO_PATHS: ReadonlySet<string> = new Set();
const NO_PROTOCOL = errorReply("BAD_REQUEST", { message: `Offer the protocol ${SUBPROTOCOL} beside the token.` });

export function upgradeHandler(deps: UpgradeDeps): Upgrade {
  return (incoming, socket, head) => {
    // Node has let go of the socket; what the client does to it from now on must not end the process.
    socket.on("error", () => socket.destroy());
    const { requests } = deps;
    requests.alone(() => {
      if (!requests.isWatched) return take(deps, { incoming, socket, head });
      // Its end is the handshake's: a connection may be open for days.
      const work = requests.begin(incoming, SOCKET.path);
      socket.on("close", () => work.end({ status: undefined }));
      work.during(() => take(deps, { incoming, socket, head, work }));
    });
  };
}

interface Handshake {
  readonly incoming: IncomingMessage;
  readonly socket: Socket;
  readonly head: Buffer;
  /** Where somebody watches. */
  readonly work?: OpenWork<"request">;
}

function take(deps: UpgradeDeps, handshake: Handshake): void {
  try {
    const admitted = admit(deps, handshake.incoming);
    if (admitted instanceof Reply) refuse(handshake, admitted);
    else open(deps, admitted, handshake);
  } catch (error) {
    failed(deps.log, handshake, error);
  }
}

interface Admitted {
  readonly principal: Principal;
  readonly chat: Chat;
}

function admit(deps: UpgradeDeps, incoming: IncomingMessage): Admitted | Reply {
  const { rules, authenticator, clientOf, crowd } = deps;
  const { headers } = incoming;
  const entered = enter(incoming, { rules, open: NO_PATHS, page: NO_PATHS });
  if (entered instanceof Reply) return entered;
  const client = clientOf(headers, peerOf(incoming.socket));
  const principal = authenticator.require(upgradeCredentials(headers), client, "connect");
  if (principal instanceof Reply) return principal;
  if (!offersOurs(headers["sec-websocket-protocol"])) return NO_PROTOCOL;
  const chat = new Chat(deps, principal, client);
  return chat.forbidden() ?? crowd.refusal(principal.device) ?? { principal, chat };
}

/** Whoever offers protocols and is not told one of them has to hang up. */
const offersOurs = (offered: string | undefined): boolean =>
  offered === undefined || offered.split(",").some((one) => one.trim() === SUBPROTOCOL);

function open(deps: UpgradeDeps, { principal, chat }: Admitted, handshake: Handshake): void {
  const { library, crowd, streams, messageRoom, clock, log } = deps;
  const { incoming, socket, head, work } = handshake;
  const after = lastEventId(incoming.headers);
  library
    .handshake(incoming, socket, head)
    .then(
      (opened) => {
        if (opened instanceof Reply) return refuse(handshake, opened);
        work?.end({ status: SWITCHED });
        serveSocket(opened, socket, { crowd, streams, messageRoom, clock, chat, principal, after });
      },
      (error: unknown) => failed(log, handshake, error),
    )
    .catch(() => socket.destroy());
}

const SWITCHED = 101;

function refuse({ socket, work }: Handshake, reply: Reply): void {
  replyAndLinger(socket, reply, requestIdHeader(reply.status));
  work?.end({ status: reply.status });
}

/** Uncaught it would end the process, and every other client's turn with it. */
function failed(log: Logger, handshake: Handshake, error: unknown): void {
  log.error("a WebSocket could not be opened", { cause: error instanceof Error ? error.message : "unknown" });
  if (handshake.socket.writable) refuse(handshake, errorReply("INTERNAL"));
}

// What streams have on the raw connection: two paths, one of which wants to be a WebSocket.

const VERSION = "13";
const UPGRADE_REQUIRED = errorReply("UPGRADE_REQUIRED", {
  headers: ["upgrade", "websocket", "connection", "upgrade", "sec-websocket-version", VERSION],
});

export function streamRoutes(deps: EventsDeps): OwnRoute[] {
  const { authenticator, clientOf } = deps;
  const plain: Handle = ({ headers }, _outgoing, peer) => {
    const principal = authenticator.require(upgradeCredentials(headers), clientOf(headers, peer), "connect");
    return principal instanceof Reply ? principal : UPGRADE_REQUIRED;
  };
  return [
    { ...EVENTS, handle: eventsHandler(deps) },
    { ...SOCKET, handle: plain },
  ];
}

/**
 * Whether a request leaves HTTP. Anything else that asks for it is served as if it had not (curl asks for HTTP/2 that way),
 * and so is one with a body, which would be read as the first frames, or one behind a request that is being answered.
 */
export function isUpgrade(incoming: IncomingMessage): boolean {
  const { method, headers, socket } = incoming;
  return (
    method === "GET" &&
    incoming.httpVersion === "1.1" &&
    targetOf(incoming)?.path === SOCKET.path &&
    headers.upgrade?.toLowerCase() === "websocket" &&
    headers["sec-websocket-version"] === VERSION &&
    headers["transfer-encoding"] === undefined &&
    declaredBytes(incoming) === 0 &&
    responseInFlight(socket) === undefined
  );
}

// The library that speaks WebSocket, evaluated with the first connection it is for: the start does without it.

const MAX_PAYLOAD_BYTES = 1_048_576;
/** A frame of one byte costs a hundred in memory: a message may not come in as many as it has bytes. */
const MAX_FRAGMENTS = 1_024;
const MAX_CHUNKS = 4_096;

const MALFORMED = errorReply("BAD_REQUEST", { message: "The WebSocket handshake is malformed." });

export class SocketLibrary {
  #server: Promise<WebSocketServer> | undefined;
  /** By the request's connection. */
  readonly #refused = new WeakMap<object, (reply: Reply) => void>();

  /** Resolves when the connection is a WebSocket, or with what it is to be told; never when its client is gone. */
  async handshake(incoming: IncomingMessage, socket: Socket, head: Buffer): Promise<WebSocket | Reply> {
    const server = await this.#load();
    return new Promise((resolve) => {
      this.#refused.set(socket, resolve);
      server.handleUpgrade(incoming, socket, head, resolve);
    });
  }

  #load(): Promise<WebSocketServer> {
    this.#server ??= import("ws").then(
      ({ WebSocketServer: Server }) => made(Server, (socket) => this.#refused.get(socket)?.(MALFORMED)),
      (cause: unknown) => {
        // Out of file descriptors, say: the next connection tries again.
        this.#server = undefined;
        throw cause;
      },
    );
    return this.#server;
  }
}

function made(Server: typeof WebSocketServer, onRefused: (socket: object) => void): WebSocketServer {
  const server = new Server({
    noServer: true,
    clientTracking: false,
    // Each compressed connection keeps hundreds of kilobytes, and a small frame may become a large one.
    perMessageDeflate: false,
    maxPayload: MAX_PAYLOAD_BYTES,
    maxFragments: MAX_FRAGMENTS,
    maxBufferedChunks: MAX_CHUNKS,
    handleProtocols: () => SUBPROTOCOL,
  });
  // In place of its own answer, which has another shape.
  server.on("wsClientError", (_error, socket) => onRefused(socket));
  return server;
}
