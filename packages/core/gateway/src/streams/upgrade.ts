/**
 * The way of a request that wants to be a WebSocket: door → who is it → room → handshake. On the server's own `upgrade` and
 * not through hono: the checks and their order are those of the other paths that are answered on the raw connection, a
 * refusal has the shape of every other one, and a stranger never reaches the library.
 */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Clock, Logger } from "@svc/contract";
import type { OpenWork } from "@svc/kernel";
import type { Authenticator } from "../auth/authenticator.ts";
import { upgradeCredentials } from "../auth/credentials.ts";
import type { Principal } from "../auth/principal.ts";
import type { Streams } from "../auth/streams.ts";
import { enter } from "../http/door.ts";
import type { MemoryRoom } from "../http/memory-room.ts";
import { errorReply, Reply } from "../http/reply.ts";
import { replyAndLinger } from "../http/parser-errors.ts";
import type { ClientResolver } from "../net/client.ts";
import type { HostRules } from "../net/host-rules.ts";
import { peerOf } from "../net/peer.ts";
import { requestIdHeader, type Requests } from "../observe/requests.ts";
import { Chat, type ChatDeps } from "./chat.ts";
import type { Crowd } from "./crowd.ts";
import { serveSocket } from "./socket.ts";
import { SOCKET } from "./specs.ts";
import { lastEventId } from "./sse.ts";
import { type SocketLibrary, SUBPROTOCOL } from "./socket-library.ts";

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
