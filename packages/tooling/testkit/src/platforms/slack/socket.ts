/**
 * Socket Mode: a ticket for a connection, envelopes that want to be acknowledged, and connections that the platform ends.
 * https://docs.slack.dev/apis/events-api/using-socket-mode
 */
import type { Json } from "@svc/contract";
import { randomUUID } from "node:crypto";
import { WebSocket, WebSocketServer } from "ws";
import type { PlatformOptions } from "../base.ts";
import { SLACK_BOT } from "./workspace.ts";

export type EnvelopeType = "events_api" | "interactive" | "slash_commands";
export type LeaveReason = "warning" | "refresh_requested" | "link_disabled";

export interface Envelope {
  readonly id: string;
  readonly type: EnvelopeType;
  readonly payload: Json;
  /** How often it was sent. */
  attempts: number;
}

export interface SlackSocket {
  /** The URL of a connection, which may be opened once. */
  ticket(): string;
  readonly upgrade: NonNullable<PlatformOptions["upgrade"]>;
  /** Over one of the connections; without any it is lost, as after the platform's last attempt. */
  send(type: EnvelopeType, payload: Json): Envelope;
  /** Sends what nobody acknowledged once more. */
  sendAgain(): void;
  /** Acknowledged, in the order in which that came. */
  readonly acknowledged: readonly string[];
  /** Sent and not acknowledged. */
  readonly waiting: readonly Envelope[];
  /** What a client does that the platform's documents do not let it. */
  readonly faults: readonly string[];
  /** Connections that are open. */
  readonly connections: number;
  /** Resolves once so many connections have been opened in all. */
  opened(count: number): Promise<void>;
  /** Tells every connection that it will be ended. */
  askToLeave(reason: LeaveReason): void;
  /** Ends every connection without a word. */
  drop(): void;
  /** Ends the oldest connection, as the platform does some seconds after it asked. */
  dropOldest(): void;
  /** Any frame, to every connection. */
  babble(frame: string | Uint8Array): void;
  /** `deaf`: nothing is answered any more, pings neither. `silent`: connections are taken, and greeted with nothing. */
  mood: "well" | "deaf" | "silent";
}

const MOST_CONNECTIONS = 10;

/** `url`: of the platform. */
export function slackSocket(url: () => string): SlackSocket {
  const server = new WebSocketServer({ noServer: true, autoPong: false });
  const tickets = new Set<string>();
  const sockets: WebSocket[] = [];
  const waiting = new Map<string, Envelope>();
  const acknowledged: string[] = [];
  const faults: string[] = [];
  const awaited: { readonly count: number; readonly resolve: () => void }[] = [];
  let openings = 0;
  let turn = 0;

  const tell = (socket: WebSocket, json: Json): void => socket.send(JSON.stringify(json));
  const open = (): WebSocket[] => sockets.filter(({ readyState }) => readyState === WebSocket.OPEN);
  const deliver = (envelope: Envelope): void => {
    const all = open();
    const { id, type, payload } = envelope;
    waiting.set(id, envelope);
    const socket = all[turn++ % Math.max(1, all.length)];
    if (socket === undefined) return;
    const retry =
      type === "events_api"
        ? { retry_attempt: envelope.attempts, retry_reason: envelope.attempts === 0 ? "" : "timeout" }
        : {};
    envelope.attempts += 1;
    tell(socket, { envelope_id: id, type, payload, accepts_response_payload: type !== "events_api", ...retry });
  };

  const greet = (socket: WebSocket): void => {
    sockets.push(socket);
    openings += 1;
    socket.on("error", () => socket.terminate());
    socket.on("ping", (data) => socket_.mood !== "deaf" && socket.pong(data));
    socket.on("message", (data, isBinary) => {
      const fault = isBinary ? "a binary frame" : acknowledge(Buffer.from(data as Buffer).toString());
      if (fault !== undefined) faults.push(fault);
    });
    socket.on("close", () => sockets.splice(sockets.indexOf(socket), 1));
    if (socket_.mood !== "silent") {
      if (open().length > MOST_CONNECTIONS) return tell(socket, { type: "disconnect", reason: "too_many_websockets" });
      tell(socket, {
        type: "hello",
        num_connections: open().length,
        debug_info: { host: "applink-1", build_number: 10, approximate_connection_time: 18_060 },
        connection_info: { app_id: SLACK_BOT.app },
      });
    }
    for (const one of awaited) if (openings >= one.count) one.resolve();
  };

  function acknowledge(text: string): string | undefined {
    let frame: { readonly envelope_id?: unknown; readonly payload?: unknown };
    try {
      frame = JSON.parse(text) as typeof frame;
    } catch {
      return "a frame that is no JSON";
    }
    const id = String(frame.envelope_id);
    if (acknowledged.includes(id)) return "an envelope is acknowledged twice";
    if (!waiting.delete(id)) return "an envelope is acknowledged that nobody sent";
    acknowledged.push(id);
    const isEmpty = frame.payload === undefined || JSON.stringify(frame.payload) === "{}";
    return isEmpty ? undefined : "an answer where none is taken";
  }

  const socket_: SlackSocket = {
    mood: "well",
    acknowledged,
    faults,
    ticket() {
      const ticket = randomUUID();
      tickets.add(ticket);
      return `${url().replace("http:", "ws:")}/link/?ticket=${ticket}&app_id=${SLACK_BOT.app}`;
    },
    upgrade(incoming, socket, head) {
      const { pathname, searchParams } = new URL(incoming.url ?? "/", "http://fake");
      if (pathname !== "/link/" || !tickets.delete(searchParams.get("ticket") ?? "")) {
        socket.end("HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n");
        return;
      }
      server.handleUpgrade(incoming, socket, head, greet);
    },
    send(type, payload) {
      const envelope: Envelope = { id: randomUUID(), type, payload, attempts: 0 };
      deliver(envelope);
      return envelope;
    },
    sendAgain() {
      for (const envelope of waiting.values()) deliver(envelope);
    },
    get waiting() {
      return [...waiting.values()];
    },
    get connections() {
      return open().length;
    },
    opened(count) {
      if (openings >= count) return Promise.resolve();
      return new Promise((resolve) => awaited.push({ count, resolve }));
    },
    askToLeave(reason) {
      for (const socket of open()) tell(socket, { type: "disconnect", reason, debug_info: { host: "applink-1" } });
    },
    drop() {
      for (const socket of open()) socket.terminate();
    },
    dropOldest: () => open()[0]?.close(1000),
    babble(frame) {
      for (const socket of open()) socket.send(frame);
    },
  };
  return socket_;
}
