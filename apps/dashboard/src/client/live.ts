/**
 * The live connection of the page. After a loss it reconnects, resumes after the last event it received, and marks every list stale:
 * something may have changed without an event.
 */
import { retryDelayMs } from "@svc/kit/async";
import { Cell } from "../cell.ts";
import { send } from "./api.ts";
import { type Topic, topicsOf } from "./topics.ts";

/** One frame of the WebSocket. */
export interface LiveEvent {
  /** `<boot>-<n>` */
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

const BACKOFF = { firstMs: 400, longestMs: 15_000 };

export type LiveState = "off" | "connecting" | "open" | "reconnecting";

export interface LiveOptions {
  open(): WebSocket;
  /** Checks the sign-in: a refused WebSocket does not say why. */
  check(): Promise<void>;
}

export interface Listener {
  event?(event: LiveEvent): void;
  /** Undefined: every list. */
  stale?(topics: readonly Topic[] | undefined): void;
}

/** The device was revoked, or the page signed out. */
const POLICY_VIOLATION = 1008;

export class Live {
  readonly state = new Cell<LiveState>("off");
  readonly #options: LiveOptions;
  readonly #listeners = new Set<Listener>();
  #socket: WebSocket | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #last: EventId | undefined;
  #attempt = 0;

  constructor(options: LiveOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.state.value !== "off") return;
    this.state.set("connecting");
    this.#connect();
  }

  /** Forgets its position: the next sign-in may belong to another person. */
  stop(): void {
    this.state.set("off");
    this.#last = undefined;
    this.#attempt = 0;
    this.#drop();
  }

  /** Returns a function that stops it. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The machine slept, or changed its network: a dead connection may not have been reported. */
  reconnect(): void {
    if (this.state.value === "off") return;
    this.#drop();
    this.state.set("reconnecting");
    this.#attempt = 0;
    this.#connect();
  }

  markStale(topics?: readonly Topic[]): void {
    for (const { stale } of this.#listeners) stale?.(topics);
  }

  #connect(): void {
    const socket = this.#options.open();
    this.#socket = socket;
    let wasOpen = false;
    socket.addEventListener("open", () => {
      if (socket !== this.#socket) return;
      wasOpen = true;
      this.#opened(socket);
    });
    socket.addEventListener("message", ({ data }) => {
      if (socket === this.#socket && typeof data === "string") this.#receive(data);
    });
    socket.addEventListener("close", ({ code }) => {
      if (socket === this.#socket) this.#lost(wasOpen && code !== POLICY_VIOLATION);
    });
  }

  #opened(socket: WebSocket): void {
    if (this.#last)
      socket.send(JSON.stringify({ type: "resume", last_event_id: `${this.#last.boot}-${this.#last.n}` }));
    this.state.set("open");
    // Also after the first connect: something may have changed since a list was read.
    this.markStale();
  }

  #lost(isSurelyKnown: boolean): void {
    if (this.state.value === "off") return;
    this.state.set("reconnecting");
    if (isSurelyKnown) this.#attempt = 0;
    this.#attempt += 1;
    const waitMs = retryDelayMs(this.#attempt, BACKOFF);
    this.#timer = setTimeout(() => void this.#tryAgain(isSurelyKnown), waitMs);
  }

  async #tryAgain(isSurelyKnown: boolean): Promise<void> {
    const { state } = this;
    // Throws if the daemon does not answer or has ended the sign-in; the latter calls `stop` meanwhile.
    if (!isSurelyKnown) await this.#options.check().catch(() => {});
    if (state.value === "reconnecting" && this.#socket?.readyState !== WebSocket.OPEN) this.#connect();
  }

  #drop(): void {
    clearTimeout(this.#timer);
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.close();
  }

  #receive(text: string): void {
    const frame = parse(text);
    if (frame === undefined) return;
    const id = parseEventId(frame.id);
    if (id === undefined) return;
    const isNotice = frame.type === "events-dropped" || frame.type === "service-draining";
    if (!isNotice && !isNews(id, this.#last)) return;
    const isOtherBoot = this.#last !== undefined && id.boot !== this.#last.boot;
    this.#last = id;
    for (const { event } of this.#listeners) event?.(frame);
    if (isOtherBoot || frame.type === "events-dropped") return this.markStale();
    const topics = topicsOf(frame.type);
    if (topics.length > 0) this.markStale(topics);
  }
}

function parse(text: string): LiveEvent | undefined {
  try {
    const frame = JSON.parse(text) as LiveEvent | null;
    const isEvent = typeof frame === "object" && typeof frame?.type === "string" && typeof frame.id === "string";
    return isEvent ? frame : undefined;
  } catch {
    return undefined;
  }
}

/** An event id: the start of the daemon, and the number of the event since then. */
interface EventId {
  readonly boot: string;
  readonly n: number;
}

export function parseEventId(id: string): EventId | undefined {
  const match = /^(.+)-(\d{1,15})$/.exec(id);
  return match ? { boot: match[1] ?? "", n: Number(match[2]) } : undefined;
}

/** Whether an event comes after `last`. A replayed event may have arrived before. */
export const isNews = (id: EventId, last: EventId | undefined): boolean =>
  last === undefined || id.boot !== last.boot || id.n > last.n;

/**
 * Detects an upgrade: an open page of the older version may misread answers of the new daemon.
 * @param script Address of the running script: its name changes with its content.
 */
export function watchForNewerPage(live: Live, script: string): Cell<boolean> {
  const isThere = new Cell(false);
  const { pathname } = new URL(script);
  let wasLost = false;
  live.state.follow(() => {
    if (live.state.value === "reconnecting") wasLost = true;
    if (live.state.value !== "open" || !wasLost) return;
    wasLost = false;
    void look(pathname).then((isNewer) => isThere.set(isNewer));
  });
  return isThere;
}

async function look(pathname: string): Promise<boolean> {
  const response = await send("/", {}, {}).catch(() => undefined);
  return response?.ok === true && !(await response.text()).includes(pathname);
}

/** The newest events since the page was opened, for a view that is opened later. Bounded. */
const MOST = 500;

export class EventLog {
  /** Newest first. */
  readonly events = new Cell<readonly LiveEvent[]>([]);
  readonly #waiting: LiveEvent[] = [];

  constructor(live: Live) {
    live.listen({ event: (event) => this.#add(event) });
  }

  clear(): void {
    this.#waiting.length = 0;
    this.events.set([]);
  }

  /** Delay that joins a burst into one render. */
  #add(event: LiveEvent): void {
    // Text deltas would push out everything else; the conversation shows them.
    if (event.type === "text-delta") return;
    if (this.#waiting.push(event) > 1) return;
    setTimeout(() => {
      const fresh = this.#waiting.splice(0).reverse();
      if (fresh.length > 0) this.events.set([...fresh, ...this.events.value].slice(0, MOST));
    }, 50);
  }
}
