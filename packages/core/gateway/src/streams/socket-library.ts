/** The library that speaks WebSocket, evaluated with the first connection it is for: the start does without it. */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { WebSocket, WebSocketServer } from "ws";
import { errorReply, type Reply } from "../http/reply.ts";

/** The one that is echoed; those beside it carry secrets. */
export const SUBPROTOCOL = "svc.v1";

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
