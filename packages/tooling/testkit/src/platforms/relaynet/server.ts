/**
 * A relay: `@nostr-relay/core` with its validator, which checks ids and signatures, behind a door that has moods and vices. It keeps its
 * events in memory.
 */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { type Event, EventRepository, type Filter, LogLevel } from "@nostr-relay/common";
import { NostrRelay } from "@nostr-relay/core";
import { Validator } from "@nostr-relay/validator";
import { matchFilter } from "nostr-tools/filter";
import { type WebSocket, WebSocketServer } from "ws";
import { type FakePlatform, type PlatformRequest, startPlatform } from "../base.ts";
import type { PlatformMood } from "../mood.ts";
import {
  type RelaynetEvent,
  type RelaynetMessage,
  type RelaynetPerson,
  relaynetEvent,
  relaynetRead,
} from "./people.ts";

export interface RelaynetOptions {
  /** Those whose messages are read, as `sent`. */
  readonly people?: readonly RelaynetPerson[];
  /** It tells and takes nothing before it knows who is there (NIP-42). */
  readonly demandsAuth?: boolean;
  /** Events of one answer at most. Default: 500. */
  readonly mostResults?: number;
  /** What it makes of each event that a client is told: nothing, that event, several. Default: the event. */
  readonly vice?: (event: RelaynetEvent) => readonly RelaynetEvent[];
}

export interface RelaynetSent {
  readonly id: string;
  readonly text: string;
  readonly from: string;
  readonly to: string;
  readonly protocol: "legacy" | "wrapped";
}

export interface Relaynet extends FakePlatform {
  /** `ws://127.0.0.1:<port>`. */
  readonly relay: string;
  readonly events: readonly RelaynetEvent[];
  /** What people read, oldest first, each message once. */
  readonly sent: readonly RelaynetSent[];
  /** Frames of clients, in order. */
  readonly frames: readonly (readonly unknown[])[];
  /** A person's app publishes it. Resolves with it once it is stored. Throws when the relay refuses it. */
  write(message: RelaynetMessage): Promise<RelaynetEvent>;
  publish(event: RelaynetEvent): Promise<void>;
  /** Told to all subscribers without a look at it. */
  tell(event: RelaynetEvent): void;
  /** The same, and stored. */
  plant(event: RelaynetEvent): void;
  /** All clients are sent this text as a frame. */
  babble(text: string): void;
  /** From now on nothing that comes by the open connections is read, pings neither. */
  goDeaf(): void;
  /** Ends all connections. */
  disconnect(): void;
  readonly connections: number;
}

class Memory extends EventRepository {
  readonly events: Event[] = [];
  readonly #most: number;

  constructor(most: number) {
    super();
    this.#most = most;
  }

  isSearchSupported(): boolean {
    return false;
  }

  upsert(event: Event): { isDuplicate: boolean } {
    if (this.events.some(({ id }) => id === event.id)) return { isDuplicate: true };
    const isReplaceable = event.kind === 0 || event.kind === 3 || (event.kind >= 10_000 && event.kind < 20_000);
    const at = isReplaceable
      ? this.events.findIndex(({ kind, pubkey }) => kind === event.kind && pubkey === event.pubkey)
      : -1;
    if (at >= 0) this.events.splice(at, 1);
    this.events.push(event);
    return { isDuplicate: false };
  }

  find(filter: Filter): Event[] {
    const found = this.events.filter((event) => matchFilter(filter as never, event));
    // https://github.com/nostr-protocol/nips/blob/master/01.md: newest first, then by id.
    found.sort((one, other) => other.created_at - one.created_at || (one.id < other.id ? -1 : 1));
    return found.slice(0, Math.min(filter.limit ?? this.#most, this.#most));
  }

  async destroy(): Promise<void> {}
}

export async function startRelaynet({
  people = [],
  demandsAuth = false,
  mostResults = 500,
  vice = (event) => [event],
}: RelaynetOptions = {}): Promise<Relaynet> {
  const memory = new Memory(mostResults);
  const validator = new Validator();
  const server = new WebSocketServer({ noServer: true });
  const sockets = new Map<WebSocket, Map<string, unknown>>();
  const frames: (readonly unknown[])[] = [];
  const sent: RelaynetSent[] = [];
  const relay = new NostrRelay(memory, {
    logLevel: LogLevel.ERROR,
    filterResultCacheTtl: 0,
    ...(demandsAuth && { hostname: "127.0.0.1" }),
  });

  const read = (event: RelaynetEvent): void => {
    for (const person of people) {
      const message = relaynetRead(event, person);
      if (message === undefined || message.from === person.pubkey || sent.some(({ id }) => id === message.id)) continue;
      sent.push({ ...message, to: person.pubkey });
    }
  };
  const clientOf = (socket: WebSocket) => ({
    get readyState() {
      return socket.readyState as never;
    },
    send(text: string) {
      const frame = JSON.parse(text) as readonly unknown[];
      if (frame[0] !== "EVENT") return socket.send(text);
      for (const event of vice(frame[2] as RelaynetEvent)) socket.send(JSON.stringify(["EVENT", frame[1], event]));
    },
  });
  type Client = ReturnType<typeof clientOf>;

  const handle = async (socket: WebSocket, client: Client, data: Buffer): Promise<void> => {
    const frame = JSON.parse(data.toString()) as readonly unknown[];
    frames.push(frame);
    const mood = typeof platform.mood === "function" ? platform.mood(NO_REQUEST) : platform.mood;
    const isHandled = await metFrame(mood, frame, socket);
    if (!isHandled) return;
    let message;
    try {
      message = await validator.validateIncomingMessage(data);
    } catch {
      return socket.send(JSON.stringify(["NOTICE", "invalid: this is no message"]));
    }
    if (frame[0] === "REQ") sockets.get(socket)?.set(String(frame[1]), frame[2]);
    if (frame[0] === "CLOSE") sockets.get(socket)?.delete(String(frame[1]));
    if (demandsAuth && (frame[0] === "REQ" || frame[0] === "EVENT") && !relay.isAuthorized(client)) {
      const why = "auth-required: tell who you are";
      const answer = frame[0] === "REQ" ? ["CLOSED", frame[1], why] : ["OK", (frame[1] as Event).id, false, why];
      return socket.send(JSON.stringify(answer));
    }
    if (mood === "loses answers" && message[0] === "EVENT") {
      await relay.handleEvent(message[1]);
      read(message[1] as RelaynetEvent);
      return socket.terminate();
    }
    await relay.handleMessage(client, message);
    if (message[0] === "EVENT" && memory.events.some(({ id }) => id === (message[1] as Event).id)) {
      read(message[1] as RelaynetEvent);
    }
  };
  const opened = (socket: WebSocket): void => {
    const client = clientOf(socket);
    sockets.set(socket, new Map());
    let last = Promise.resolve();
    socket.on("message", (data: Buffer) => {
      last = last.then(() => handle(socket, client, data)).catch(() => socket.terminate());
    });
    socket.on("error", () => undefined);
    socket.on("close", () => {
      sockets.delete(socket);
      relay.handleDisconnect(client);
    });
    relay.handleConnection(client, "127.0.0.1");
  };
  const upgrade = (incoming: IncomingMessage, socket: Socket, head: Buffer): void =>
    server.handleUpgrade(incoming, socket, head, opened);
  const base = await startPlatform(() => ({ status: 404, json: { error: "a relay speaks WebSocket" } }), { upgrade });
  const publish = async (event: RelaynetEvent): Promise<void> => {
    const { success, message } = await relay.handleEvent(event as Event);
    if (!success) throw new Error(`refused: ${message}`);
  };
  const platform = Object.defineProperties(base, {
    ...Object.getOwnPropertyDescriptors({
      relay: base.url.replace("http:", "ws:"),
      events: memory.events as readonly RelaynetEvent[],
      sent,
      frames,
      publish,
      async write(message: RelaynetMessage) {
        const event = relaynetEvent(message);
        await publish(event);
        return event;
      },
      tell(event: RelaynetEvent) {
        for (const [socket, subscriptions] of sockets) {
          for (const id of subscriptions.keys()) socket.send(JSON.stringify(["EVENT", id, event]));
        }
      },
      plant(event: RelaynetEvent) {
        memory.events.push(event as Event);
        platform.tell(event);
      },
      babble(text: string) {
        for (const socket of sockets.keys()) socket.send(text);
      },
      goDeaf() {
        for (const socket of sockets.keys()) socket.pause();
      },
      disconnect() {
        for (const socket of sockets.keys()) socket.terminate();
      },
      get connections() {
        return sockets.size;
      },
    }),
  }) as Relaynet;
  return platform;
}

/** For moods that are functions of the request: a frame has none. */
const NO_REQUEST: PlatformRequest = {
  method: "FRAME",
  path: "/",
  query: new URLSearchParams(),
  headers: {},
  body: new Uint8Array(),
  json: undefined,
};

/** Whether the frame is still to be handled. */
async function metFrame(mood: PlatformMood, frame: readonly unknown[], socket: WebSocket): Promise<boolean> {
  if (mood === "takes" || mood === "loses answers") return true;
  if (frame[0] !== "EVENT" && frame[0] !== "REQ") return true;
  if (mood === "hangs") return false;
  if (mood === "resets") return (socket.terminate(), false);
  if ("fails" in mood) return mood.random() >= mood.fails || metFrame(mood.how, frame, socket);
  if ("slow" in mood) {
    await mood.slow();
    return true;
  }
  if ("babbles" in mood) return (socket.send(mood.babbles), false);
  if ("redirects" in mood) return (socket.terminate(), false);
  const word = "rateLimits" in mood ? "rate-limited" : wordOf(mood.refuses);
  const why = `${word}: refused: ${JSON.stringify(frame)}`;
  const answer =
    frame[0] === "REQ" ? ["CLOSED", frame[1], why] : ["OK", (frame[1] as { readonly id?: string }).id, false, why];
  socket.send(JSON.stringify(answer));
  return false;
}

const wordOf = (status: number): string =>
  status >= 500 ? "error" : status === 401 || status === 403 ? "restricted" : "invalid";
