/** The platform's side of the long connection: it hands events over again until one is acknowledged. */
import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Json } from "@svc/contract";
import { type WebSocket, WebSocketServer } from "ws";
import { readWorkchatFrame, workchatFrame } from "./frames.ts";

export interface WorkchatSocket {
  /** A new address, good for one connection. */
  ticket(): string;
  upgrade(incoming: IncomingMessage, socket: Socket, head: Buffer): void;
  /** Hands an event over; it waits where nobody is connected. `frames`: in how many it goes. */
  send(payload: Json, frames?: number): void;
  /** Once more, what nobody acknowledged. */
  sendAgain(): void;
  readonly waiting: readonly Json[];
  /** What was acknowledged, in order. */
  readonly acknowledged: readonly Json[];
  readonly faults: readonly string[];
  readonly connections: number;
  readonly pings: number;
  opened(count: number): Promise<void>;
  drop(): void;
  babble(frame: Buffer | string): void;
  /** `deaf`: nothing is answered. `refuses`: no connection is taken, for these handshake headers. */
  mood: "well" | "deaf" | { readonly refuses: Readonly<Record<string, string>> };
  pingSeconds: number;
}

interface Waiting {
  readonly payload: Json;
  readonly frames: number;
}

export function workchatSocket(url: () => string): WorkchatSocket {
  const server = new WebSocketServer({ noServer: true });
  const tickets = new Set<string>();
  const sockets: WebSocket[] = [];
  const waiting = new Map<string, Waiting>();
  const acknowledged: Json[] = [];
  const faults: string[] = [];
  const awaited: { readonly count: number; readonly resolve: () => void }[] = [];
  let openings = 0;
  let pings = 0;

  const deliver = (id: string, { payload, frames }: Waiting): void => {
    const socket = sockets.findLast(({ readyState }) => readyState === 1);
    if (socket === undefined) return;
    const bytes = Buffer.from(JSON.stringify(payload));
    const size = Math.ceil(bytes.length / frames);
    for (let seq = 0; seq < frames; seq += 1) {
      const headers = { type: "event", message_id: id, sum: String(frames), seq: String(seq), trace_id: randomUUID() };
      socket.send(workchatFrame({ method: 1, headers, payload: bytes.subarray(seq * size, (seq + 1) * size) }));
    }
  };
  const heard = (socket: WebSocket, bytes: Buffer): void => {
    const { method, headers, payload } = readWorkchatFrame(bytes);
    if (method === 0 && headers["type"] === "ping") {
      pings += 1;
      const config = { ReconnectCount: -1, ReconnectInterval: 120, ReconnectNonce: 30, PingInterval: own.pingSeconds };
      const pong = { method: 0, headers: { type: "pong" }, payload: Buffer.from(JSON.stringify(config)) };
      if (own.mood === "well") socket.send(workchatFrame(pong));
      return;
    }
    const id = headers["message_id"] ?? "";
    const one = waiting.get(id);
    if (method !== 1 || one === undefined) throw new Error("an answer to nothing");
    if (headers["biz_rt"] === undefined) throw new Error("an answer that does not say how long it took");
    if ((JSON.parse(payload.toString()) as { code?: unknown }).code !== 200) return;
    waiting.delete(id);
    acknowledged.push(one.payload);
  };

  const own: WorkchatSocket = {
    mood: "well",
    pingSeconds: 120,
    acknowledged,
    faults,
    get waiting() {
      return [...waiting.values()].map(({ payload }) => payload);
    },
    get connections() {
      return sockets.filter(({ readyState }) => readyState === 1).length;
    },
    get pings() {
      return pings;
    },
    ticket() {
      const ticket = randomUUID();
      tickets.add(ticket);
      return `${url().replace("http:", "ws:")}/ws/v2?fpid=493&aid=552564&device_id=7301&service_id=33554678&ticket=${ticket}`;
    },
    upgrade(incoming, socket, head) {
      const { pathname, searchParams } = new URL(incoming.url ?? "/", "http://fake");
      const isKnown = pathname === "/ws/v2" && tickets.delete(searchParams.get("ticket") ?? "");
      if (!isKnown || typeof own.mood === "object") {
        const headers = typeof own.mood === "object" ? own.mood.refuses : { "Handshake-Status": "403" };
        const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
        socket.end(`HTTP/1.1 403 Forbidden\r\n${lines.join("")}connection: close\r\n\r\n`);
        return;
      }
      server.handleUpgrade(incoming, socket, head, (accepted) => {
        sockets.push(accepted);
        openings += 1;
        accepted.on("error", () => accepted.terminate());
        accepted.on("close", () => sockets.splice(sockets.indexOf(accepted), 1));
        accepted.on("message", (data, isBinary) => {
          try {
            if (!isBinary) throw new Error("a frame of text");
            heard(accepted, data as Buffer);
          } catch (error) {
            faults.push((error as Error).message);
          }
        });
        for (const one of awaited) if (openings >= one.count) one.resolve();
        own.sendAgain();
      });
    },
    send(payload, frames = 1) {
      const id = randomUUID();
      const one = { payload, frames };
      waiting.set(id, one);
      deliver(id, one);
    },
    sendAgain() {
      for (const [id, one] of waiting) deliver(id, one);
    },
    opened(count) {
      if (openings >= count) return Promise.resolve();
      return new Promise((resolve) => awaited.push({ count, resolve }));
    },
    drop() {
      for (const socket of sockets.slice()) socket.terminate();
    },
    babble(frame) {
      for (const socket of sockets) socket.send(frame);
    },
  };
  return own;
}
