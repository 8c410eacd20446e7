/** Clients that take what they can get: each of them is one attacker with many connections. */
import type { Socket } from "node:net";
import type { Victim } from "../place/daemon.ts";
import { Sockets } from "./sockets.ts";

export interface Flood {
  readonly name: string;
  /** By clients with a token. Their requests cause real work that delays others: the pace is reported, not judged. */
  readonly isAuthorized?: boolean;
  /** Runs until `sockets` is disposed of. Resolves when all of it has begun. */
  begin(sockets: Sockets, victim: Victim): Promise<void>;
}

const KILOBYTE = 1_024;

const request = (line: string, more = ""): string => `${line} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`;
const filled = (text: string, bytes: number): Buffer => Buffer.from(text.repeat(Math.ceil(bytes / text.length)));
const bearer = ({ credentials }: Victim): string => `Authorization: Bearer ${credentials.token}\r\n`;

/** Requests one after the other on connections that stay, as fast as they are answered. */
function keepAsking(sockets: Sockets, count: number, bytes: Buffer): Promise<void> {
  return sockets.open(count, (socket) => {
    const ask = (): void => void socket.write(bytes);
    sockets.answered(socket, ask);
    ask();
  });
}

/** One after the other, each on a new connection. */
function keepOpening(sockets: Sockets, width: number, bytes: Buffer): Promise<void> {
  const again = (): void => {
    if (sockets.isOver) return;
    void sockets.one((socket) => {
      socket.once("close", again);
      sockets.answered(socket, () => socket.destroy());
      socket.write(bytes);
    });
  };
  return sockets.open(width, (socket) => {
    socket.once("close", again);
    socket.destroy();
  });
}

/** Writes `bytes` for as long as they are taken. */
function pour(socket: Socket, bytes: Buffer): void {
  const more = (): void => {
    while (socket.writable && socket.write(bytes));
  };
  socket.on("drain", more);
  more();
}

/** A client's frame (RFC 6455). The mask is zeros. */
function frame(first: number, payload: Buffer, declared = payload.length): Buffer {
  const size = Buffer.alloc(9, 0x80 | 127);
  size.writeBigUInt64BE(BigInt(declared), 1);
  const length = declared < 126 ? Buffer.of(0x80 | declared) : size;
  return Buffer.concat([Buffer.of(first), length, Buffer.alloc(4), payload]);
}

const handshake = (victim: Victim): string =>
  request(
    "GET /ws",
    `${bearer(victim)}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n` +
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
  );

/** WebSockets, and the bytes sent to each. */
const onSockets =
  (count: number, write: (socket: Socket) => void): Flood["begin"] =>
  (sockets, victim) =>
    sockets.open(count, (socket) => {
      socket.write(handshake(victim));
      write(socket);
    });

export const FLOODS: readonly Flood[] = [
  {
    name: "pipelined, nothing read",
    begin: (sockets) =>
      sockets.open(300, (socket) => socket.pause().write(filled(request("GET /openapi.json"), 64 * KILOBYTE))),
  },
  {
    name: "pipelined, read slowly",
    begin: (sockets) =>
      sockets.open(300, (socket) => {
        socket.write(filled(request("GET /"), 64 * KILOBYTE));
        const read = (): void => {
          if (socket.destroyed) return;
          socket.pause();
          setTimeout(() => socket.resume(), 100);
        };
        sockets.answered(socket, read);
      }),
  },
  {
    name: "pipelined and half closed",
    begin: (sockets) =>
      sockets.open(300, (socket) => socket.pause().end(filled(request("HEAD /openapi.json"), 64 * KILOBYTE))),
  },
  {
    name: "pipelined without end, all read",
    begin: (sockets) =>
      sockets.open(50, (socket) => {
        sockets.answered(socket, () => {});
        pour(socket, filled(request("OPTIONS /health"), 64 * KILOBYTE));
      }),
  },
  {
    name: "kept alive, asking without end",
    begin: (sockets) => keepAsking(sockets, 100, Buffer.from(request("GET /health"))),
  },
  {
    name: "asking before it sends (100-continue)",
    begin: (sockets) => {
      const asked = request("POST /pair", "Expect: 100-continue\r\nContent-Length: 10\r\n");
      return sockets.open(200, (socket) => {
        sockets.answered(socket, () => {});
        pour(socket, filled(`${asked}0123456789`, 64 * KILOBYTE));
      });
    },
  },
  {
    name: "chunks of one byte",
    begin: (sockets) => {
      const head = request("POST /pair", "X-Pairing-Code: 000000\r\nTransfer-Encoding: chunked\r\n");
      return sockets.open(100, (socket) => {
        sockets.answered(socket, () => {});
        socket.write(head);
        pour(socket, filled("1\r\nx\r\n", 64 * KILOBYTE));
      });
    },
  },
  {
    name: "headers without end",
    begin: (sockets) => {
      const begun = `GET /health HTTP/1.1\r\nHost: localhost\r\nX-Fill: ${"x".repeat(15 * KILOBYTE)}`;
      return sockets.open(2_000, (socket) => void socket.write(begun));
    },
  },
  {
    name: "upgrades without a token",
    begin: (sockets) =>
      keepOpening(
        sockets,
        50,
        Buffer.from(request("GET /ws", "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n")),
      ),
  },
  {
    name: "readers of events that do not read",
    isAuthorized: true,
    begin: (sockets, victim) =>
      sockets.open(1_500, (socket) => socket.pause().write(request("GET /api/events", bearer(victim)))),
  },
  {
    name: "WebSockets that hold back the end of a message",
    isAuthorized: true,
    begin: onSockets(400, (socket) => {
      socket.pause();
      socket.write(frame(0x81, Buffer.alloc(512 * KILOBYTE, "x"), 1_000_000));
    }),
  },
  {
    name: "WebSockets that ping and say nothing in fragments",
    isAuthorized: true,
    begin: onSockets(100, (socket) => {
      socket.pause();
      const fragments = Array.from({ length: 50 }, (_, index) => frame(index === 0 ? 1 : 0, Buffer.from("x")));
      const pings = Array.from({ length: 50 }, () => frame(0x89, Buffer.from("are you there?")));
      const all = [...fragments, frame(0x80, Buffer.from("x")), ...pings];
      pour(socket, Buffer.concat(all));
    }),
  },
];
