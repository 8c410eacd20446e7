/**
 * A request that becomes a WebSocket. It comes by the server's own `upgrade` event, and its checks are those of `GET /ws`:
 *
 *   host 403 → bearer 429 LOCKED_OUT, 401, 403 → protocol 400 → webhook secret 403 → subscribers 503 → handshake
 *
 * A refusal has the shape of every other one, and a stranger never reaches the library.
 */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Clock, Logger } from "@svc/contract";
import type { OpenSpan } from "@svc/runtime";
import * as v from "valibot";
import type { WebSocket, WebSocketServer } from "ws";
import {
  type Authenticator,
  type DeviceConnections,
  type Principal,
  upgradeCredentials,
} from "../auth/authenticator.ts";
import { replyAndLinger, responseInFlight } from "../http/connections.ts";
import { type ClientResolver, peerOf } from "../client.ts";
import { type MemoryBudget, type Requests, declaredBytes, requestIdHeader, targetOf } from "../http/request.ts";
import { errorReply, Reply } from "../http/reply.ts";
import { hostCheck, type HostRules } from "../pipeline.ts";
import { Chat, type ChatDeps } from "./chat.ts";
import { serveSocket } from "./socket.ts";
import type { RouteSpec } from "../routes/route.ts";
import { LAST_EVENT_ID, lastEventId } from "./sse.ts";
import type { SubscriberRegistry } from "./subscribers.ts";

export const SOCKET: RouteSpec = {
  method: "GET",
  path: "/ws",
  access: "connect",
  summary: "Opens a WebSocket: the same events, and chat.",
  details:
    "Offer the protocol svc.v1, and beside it bearer.<token> where no Authorization header can be sent. Events are text " +
    'frames as on /api/events. The client may send {"type":"message","content","session_id"?}, answered by a frame ' +
    '{"type":"reply","response","model","session_id"} or {"type":"error","code","error"}, for operators with "fix" and "said", and once ' +
    '{"type":"resume","last_event_id"?}. Messages count for the limit of POST /webhook.',
  headers: {
    "Sec-WebSocket-Protocol": v.optional(
      v.pipe(v.string(), v.description("svc.v1, and where needed bearer.<token> or csrf.<value>.")),
    ),
    "Last-Event-ID": LAST_EVENT_ID,
  },
  answers: { 101: { description: "It is open." } },
  errors: ["UPGRADE_REQUIRED", "DRAINING", "BUSY", "INTERNAL"],
};

export type Upgrade = (incoming: IncomingMessage, socket: Socket, head: Buffer) => void;

export interface UpgradeDeps extends ChatDeps {
  readonly requests: Requests;
  readonly rules: HostRules;
  readonly subscribers: SubscriberRegistry;
  readonly library: SocketLibrary;
  readonly authenticator: Authenticator;
  readonly clientOf: ClientResolver;
  readonly connections: DeviceConnections;
  readonly messageMemory: MemoryBudget;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The only protocol that is echoed; the others carry secrets. */
const SUBPROTOCOL = "svc.v1";

/** A handshake can change state, so a link from another page must not reach it. */
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
  /** Set when an observer is active. */
  readonly work?: OpenSpan<"request">;
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
  const { rules, authenticator, clientOf, subscribers } = deps;
  const { headers } = incoming;
  const path = hostCheck(incoming, { rules, open: NO_PATHS, page: NO_PATHS });
  if (path instanceof Reply) return path;
  const client = clientOf(headers, peerOf(incoming.socket));
  const principal = authenticator.require(upgradeCredentials(headers), client, "connect");
  if (principal instanceof Reply) return principal;
  if (!offersOurs(headers["sec-websocket-protocol"])) return NO_PROTOCOL;
  const chat = new Chat(deps, principal, client);
  return chat.forbidden() ?? subscribers.refusal(principal.device) ?? { principal, chat };
}

/** A client that offers protocols and gets none of them back must close the connection. */
const offersOurs = (offered: string | undefined): boolean =>
  offered === undefined || offered.split(",").some((one) => one.trim() === SUBPROTOCOL);

function open(deps: UpgradeDeps, { principal, chat }: Admitted, handshake: Handshake): void {
  const { library, subscribers, connections, messageMemory, clock, log } = deps;
  const { incoming, socket, head, work } = handshake;
  const after = lastEventId(incoming.headers);
  library
    .handshake(incoming, socket, head)
    .then(
      (opened) => {
        if (opened instanceof Reply) return refuse(handshake, opened);
        work?.end({ status: SWITCHED });
        serveSocket(opened, socket, { subscribers, connections, messageMemory, clock, chat, principal, after });
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

const VERSION = "13";
export const UPGRADE_REQUIRED = errorReply("UPGRADE_REQUIRED", {
  headers: ["upgrade", "websocket", "connection", "upgrade", "sec-websocket-version", VERSION],
});

/**
 * Whether a request leaves HTTP. Other `Upgrade` headers are ignored (curl offers HTTP/2 that way). So are those of a request
 * with a body, which would be read as the first frames, and of one behind a request that is being answered.
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

  /** Resolves with the WebSocket, or with the reply to send; never when the client is gone. */
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
  // Replaces the library's own answer, which has another shape.
  server.on("wsClientError", (_error, socket) => onRefused(socket));
  return server;
}
