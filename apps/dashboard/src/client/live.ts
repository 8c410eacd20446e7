/**
 * The one connection for everything that happens. When it is lost it comes again by itself, goes on after
 * the last event it saw, and has every list read anew: something may have changed that no event tells.
 */
import { retryDelayMs } from "@svc/kit/async";
import { Cell } from "../state/cell.ts";
import { send } from "./api.ts";
import { type Topic, topicsOf } from "./topics.ts";

const BACKOFF = { firstMs: 400, longestMs: 15_000 };

export type LiveState = "off" | "connecting" | "open" | "again";

export interface LiveOptions {
  open(): WebSocket;
  /** Asks whether we are still let in: a refused WebSocket does not say why it was refused. */
  check(): Promise<void>;
}

export interface Listener {
  event?(event: LiveEvent): void;
  /** Undefined: whatever it is. */
  stale?(topics: readonly Topic[] | undefined): void;
}

/** The device was revoked, or the page signed out. */
const SENT_AWAY = 1008;

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

  /** Call the result to end it. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The machine slept, or changed its network: a dead connection may not have been reported. */
  reconnect(): void {
    if (this.state.value === "off") return;
    this.#drop();
    this.state.set("again");
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
      if (socket === this.#socket) this.#lost(wasOpen && code !== SENT_AWAY);
    });
  }

  #opened(socket: WebSocket): void {
    if (this.#last)
      socket.send(JSON.stringify({ type: "resume", last_event_id: `${this.#last.boot}-${this.#last.n}` }));
    this.state.set("open");
    // At the first time, too: something may have happened between a list's reading and now.
    this.markStale();
  }

  #lost(isSurelyKnown: boolean): void {
    if (this.state.value === "off") return;
    this.state.set("again");
    if (isSurelyKnown) this.#attempt = 0;
    this.#attempt += 1;
    const waitMs = retryDelayMs(this.#attempt, BACKOFF);
    this.#timer = setTimeout(() => void this.#tryAgain(isSurelyKnown), waitMs);
  }

  async #tryAgain(isSurelyKnown: boolean): Promise<void> {
    const { state } = this;
    // It throws if the daemon does not answer, or has ended the sign-in; the latter stops this object meanwhile.
    if (!isSurelyKnown) await this.#options.check().catch(() => {});
    if (state.value === "again" && this.#socket?.readyState !== WebSocket.OPEN) this.#connect();
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

/** Ids of events: which start of the service, and the how manieth there. */
interface EventId {
  readonly boot: string;
  readonly n: number;
}

export function parseEventId(id: string): EventId | undefined {
  const match = /^(.+)-(\d{1,15})$/.exec(id);
  return match ? { boot: match[1] ?? "", n: Number(match[2]) } : undefined;
}

/** Whether an event is news to who has seen `last`: one that is replayed after it came by itself is not. */
export const isNews = (id: EventId, last: EventId | undefined): boolean =>
  last === undefined || id.boot !== last.boot || id.n > last.n;

/** What comes by the WebSocket. */
export interface LiveEvent {
  /** `<boot>-<n>` */
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

// After an upgrade of the service an open page is the old one, and may misunderstand the new one.

/** @param script Address of the script that runs: its name changes with its content. */
export function watchForNewerPage(live: Live, script: string): Cell<boolean> {
  const isThere = new Cell(false);
  const { pathname } = new URL(script);
  let wasLost = false;
  live.state.follow(() => {
    if (live.state.value === "again") wasLost = true;
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

/** The newest events since the page was opened, for a reader who opens the view later. Bounded. */
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

  /** A burst is drawn once. */
  #add(event: LiveEvent): void {
    // Pieces of an answer are in the conversation; here they would push out all else.
    if (event.type === "text-delta") return;
    if (this.#waiting.push(event) > 1) return;
    setTimeout(() => {
      const fresh = this.#waiting.splice(0).reverse();
      if (fresh.length > 0) this.events.set([...fresh, ...this.events.value].slice(0, MOST));
    }, 50);
  }
}
