/** The relays of the account: connections that are open, and others for as long as something takes. */
import { type FeatureContext, type Json, SvcError } from "@svc/contract";
import { parseJson, unlessAborted, withTimeout } from "@svc/kit";
import type { Config } from "./config.ts";
import { type Identity, type NostrEvent, authEvent, eventOf, throwawayIdentity } from "./protocol.ts";
import { type LineDeps, connected } from "./line.ts";

export interface Relays {
  /** URLs of the config. */
  readonly own: readonly string[];
  /** A new connection to one of our own. Rejects as `openRelay`. */
  open(url: string, signal: AbortSignal): Promise<Relay>;
  /** It may be used for other work too, until it is removed. */
  share(relay: Relay): void;
  remove(relay: Relay): void;
  shared(): readonly Relay[];
  /** Uses the shared connection, or a new one that ends with the work. Rejects as `openRelay` and `work`. */
  use<T>(url: string, work: (relay: Relay) => Promise<T>, signal: AbortSignal): Promise<T>;
  /** Uses all of these at once; after the first result, waits `patienceMs` for others. Rejects only with the signal's reason. */
  useAll<T>(
    urls: readonly string[],
    work: (relay: Relay) => Promise<T>,
    signal: AbortSignal,
    patienceMs?: number,
  ): Promise<Outcome<T>[]>;
}

export type Outcome<T> = { readonly url: string } & (
  | { readonly isDone: true; readonly value: T }
  | { readonly isDone: false; readonly error: SvcError }
);

/** So long after the first relay has answered the others are waited for, unless the caller says otherwise. */
const PATIENCE_MS = 2_000;

export function relaysOf(
  { config, clock, log, resolve }: Pick<FeatureContext<Config>, "config" | "clock" | "log" | "resolve">,
  identity: Identity,
): Relays {
  const own = config.relays;
  const open = new Map<string, Relay>();
  const deps = { clock, log, resolve };
  const connect = (url: string, signal: AbortSignal): Promise<Relay> =>
    own.includes(url)
      ? openRelay(url, { ...deps, identity: () => identity }, signal)
      : // A gift wrap does not tell who has written it: nor do we, to a relay that is not ours.
        openRelay(url, { ...deps, isForeign: true, identity: throwawayIdentity }, signal);
  const relays: Relays = {
    own,
    open: connect,
    share: (relay) => void open.set(relay.url, relay),
    remove: (relay) => void (open.get(relay.url) === relay && open.delete(relay.url)),
    shared: () => [...open.values()],
    async use(url, work, signal) {
      const existing = open.get(url);
      if (existing !== undefined && !existing.isPaused) return work(existing);
      const relay = await connect(url, signal);
      try {
        return await work(relay);
      } finally {
        relay.close();
      }
    },
    async useAll(urls, work, signal, patienceMs = PATIENCE_MS) {
      signal.throwIfAborted();
      const late = new AbortController();
      const either = AbortSignal.any([signal, late.signal]);
      let cancel: (() => void) | undefined;
      const giveUp = (): void => late.abort(tooLate());
      const outcomes = urls.map(async (url) => {
        try {
          const value = await unlessAborted(relays.use(url, work, either), either);
          cancel ??= clock.after(patienceMs, giveUp);
          return { url, isDone: true as const, value };
        } catch (error) {
          return { url, isDone: false as const, error: asSvcError(error) };
        }
      });
      try {
        return await unlessAborted(Promise.all(outcomes), signal);
      } finally {
        cancel?.();
        late.abort(new SvcError("CANCELLED"));
      }
    },
  };
  return relays;
}

const tooLate = (): SvcError => new SvcError("REMOTE_TIMEOUT", "The relay did not answer in time.");

const asSvcError = (error: unknown): SvcError =>
  error instanceof SvcError
    ? error
    : new SvcError("REMOTE_UNREACHABLE", "The relay can't be reached.", { cause: error });

/** The error when all relays failed: one that a retry may overcome counts before a permanent one. */
export function commonFailure(errors: readonly SvcError[]): SvcError {
  const isFinal = ({ code }: SvcError): boolean => code === "CHANNEL_UNAUTHORIZED" || code === "DELIVERY_REFUSED";
  const passing = errors.filter((error) => !isFinal(error));
  const waits = passing.flatMap(({ retryAfterMs }) => retryAfterMs ?? []);
  const why = passing[0] ?? errors.find(({ code }) => code === "DELIVERY_REFUSED") ?? errors[0] ?? noRelay();
  if (errors.length < 2) return why;
  return new SvcError(why.code, `None of ${errors.length} relays works. ${why.message}`, {
    cause: why,
    ...(why.hint !== undefined && { hint: why.hint }),
    ...(waits.length > 0 && waits.length === passing.length && { retryAfterMs: Math.min(...waits) }),
  });
}

const noRelay = (): SvcError => new SvcError("REMOTE_UNREACHABLE", "No relay can be reached.");

// One connection to one relay: subscriptions, events that it takes or refuses, its demand to know who is there. Nothing that it says is
// believed, and nothing that it says is quoted. https://github.com/nostr-protocol/nips/blob/master/01.md, 42.md

/** https://github.com/nostr-protocol/nips/blob/master/01.md#from-client-to-relay-sending-events-and-creating-subscriptions */
interface Filter {
  readonly kinds: readonly number[];
  readonly authors?: readonly string[];
  readonly "#p"?: readonly string[];
  readonly since?: number;
  readonly until?: number;
  readonly limit?: number;
}

interface Listener {
  event(event: NostrEvent): void;
  /** All stored events were sent; later ones are new. Called again after the relay has authenticated us. */
  caughtUp(): void;
}

export interface Relay {
  readonly url: string;
  /** Resolves, never rejects, with why the connection is over. */
  readonly lost: Promise<SvcError>;
  /** Goes on until the connection is over. */
  subscribe(filter: Filter, listener: Listener): void;
  /** The stored events. Rejects with REMOTE_* if they don't arrive in time, or the connection ends. */
  query(filter: Filter, signal: AbortSignal): Promise<readonly NostrEvent[]>;
  /** Resolves once it has taken the event. Rejects with DELIVERY_REFUSED, CHANNEL_UNAUTHORIZED, REMOTE_*. */
  publish(event: NostrEvent, signal: AbortSignal): Promise<void>;
  /** Reads nothing until it is resumed: other queries on this connection wait meanwhile. */
  pause(): void;
  readonly isPaused: boolean;
  resume(): void;
  close(): void;
}

interface RelayDeps extends LineDeps, Pick<FeatureContext, "clock" | "log" | "resolve"> {
  /** Who we say that we are when the relay asks. */
  readonly identity: () => Identity;
}

const PING_MS = 45_000;
/** Without a frame for this long the connection is dead. */
const SILENCE_MS = 120_000;
const ANSWER_LIMIT_MS = 20_000;
const MAX_CHALLENGE_CHARS = 1_024;
/** Each takes a signature. */
const MOST_CHALLENGES = 10;
/** Events of one query. */
const MOST_RESULTS = 2_000;

interface Asked {
  readonly frame: string;
  heard(event: NostrEvent): void;
  ended(): void;
  failed(why: SvcError): void;
}

/** Resolves once it is open. Rejects as `connected`. */
export async function openRelay(url: string, deps: RelayDeps, signal: AbortSignal): Promise<Relay> {
  const { clock, log } = deps;
  const socket = await connected(url, deps, signal);
  const lost = Promise.withResolvers<SvcError>();
  const asked = new Map<string, Asked>();
  const published = new Map<string, PromiseWithResolvers<string>>();
  let identity: Identity | undefined;
  /** Id of the event that says who we are, until the relay has answered it. */
  let authId: string | undefined;
  let standing: "unknown" | "accepted" | "refused" = "unknown";
  let challenges = 0;
  let count = 0;
  let heardMs = clock.monotonic();
  let isOver = false;
  let cancel = (): void => undefined;

  const write = (...frame: readonly unknown[]): void => {
    if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(frame), () => undefined);
  };
  const end = (why: SvcError): void => {
    if (isOver) return;
    isOver = true;
    cancel();
    socket.terminate();
    for (const one of asked.values()) one.failed(why);
    for (const { reject } of published.values()) reject(why);
    asked.clear();
    published.clear();
    lost.resolve(why);
  };
  const keepAlive = (): void => {
    // Whom we don't listen to is not silent.
    if (socket.isPaused) heardMs = clock.monotonic();
    if (clock.monotonic() - heardMs >= SILENCE_MS) {
      return end(new SvcError("REMOTE_TIMEOUT", "The relay has said nothing for 120 s."));
    }
    if (socket.readyState === socket.OPEN) socket.ping(() => undefined);
    cancel = clock.after(PING_MS, keepAlive);
  };

  const authenticate = (challenge: string): void => {
    challenges += 1;
    if (challenges > MOST_CHALLENGES) return;
    identity ??= deps.identity();
    const event = authEvent(url, challenge, Math.floor(clock.now() / 1000), identity);
    authId = event.id;
    write("AUTH", event);
  };
  const authenticated = (isTaken: boolean): void => {
    authId = undefined;
    standing = isTaken ? "accepted" : "refused";
    // The relay now serves events for us alone, and refuses those for other accounts.
    for (const { frame } of asked.values()) socket.send(frame, () => undefined);
  };

  const closed = (id: string, reason: string): void => {
    const one = asked.get(id);
    if (one === undefined) return;
    // The query is sent again after authentication, which is under way or starts with the relay's challenge.
    if (reason === "auth-required" && standing === "unknown") return;
    asked.delete(id);
    const isRefusal = reason === "restricted" || reason === "blocked" || reason === "auth-required";
    one.failed(
      isRefusal
        ? new SvcError("CHANNEL_UNAUTHORIZED", "The relay tells this account nothing.")
        : new SvcError("REMOTE_UNREACHABLE", "The relay has ended the subscription."),
    );
  };

  const heard = (frame: readonly Json[]): void => {
    const [type, first, second, third] = frame;
    if (type === "EVENT") {
      const event = eventOf(second);
      if (event !== undefined) asked.get(String(first))?.heard(event);
    } else if (type === "EOSE") {
      // Before authentication EOSE covers only public events.
      if (authId === undefined) asked.get(String(first))?.ended();
    } else if (type === "OK") {
      const words = second === true ? "" : reasonIn(third);
      if (first === authId) authenticated(second === true);
      else published.get(String(first))?.resolve(second === true ? "" : words || "refused");
    } else if (type === "CLOSED") closed(String(first), reasonIn(second));
    else if (type === "AUTH" && typeof first === "string" && first.length <= MAX_CHALLENGE_CHARS) {
      authenticate(first);
    }
  };
  socket.on("message", (data: Buffer, isBinary: boolean) => {
    heardMs = clock.monotonic();
    const frame = isBinary ? undefined : parseJson(data);
    if (Array.isArray(frame)) heard(frame);
    else log.debug("a frame of a relay can't be read", { relay: url });
  });
  socket.on("pong", () => (heardMs = clock.monotonic()));
  socket.on("error", () => undefined);
  socket.on("close", () => end(new SvcError("REMOTE_UNREACHABLE", "The connection to the relay has ended.")));
  keepAlive();
  socket.resume();

  const ask = (filter: Filter, handlers: Omit<Asked, "frame">): string => {
    count += 1;
    const id = `svc-${count}`;
    const frame = JSON.stringify(["REQ", id, filter]);
    asked.set(id, { frame, ...handlers });
    if (isOver) end(gone());
    else if (authId === undefined) socket.send(frame, () => undefined);
    return id;
  };
  const inTime = <T>(work: Promise<T>, until: AbortSignal): Promise<T> =>
    withTimeout({ clock, timeoutMs: ANSWER_LIMIT_MS, signal: until, error: tooLate }, () => work);
  const publishOnce = async (event: NostrEvent, until: AbortSignal): Promise<string> => {
    if (isOver) throw gone();
    const answer = published.get(event.id) ?? Promise.withResolvers<string>();
    answer.promise.catch(() => undefined);
    published.set(event.id, answer);
    write("EVENT", event);
    try {
      return await inTime(answer.promise, until);
    } finally {
      published.delete(event.id);
    }
  };

  const query = async (filter: Filter, until: AbortSignal): Promise<readonly NostrEvent[]> => {
    until.throwIfAborted();
    if (isOver) throw gone();
    const events = new Map<string, NostrEvent>();
    const done = Promise.withResolvers<void>();
    done.promise.catch(() => undefined);
    const id = ask(filter, {
      heard: (event) => void (events.size < MOST_RESULTS && events.set(event.id, event)),
      ended: done.resolve,
      failed: done.reject,
    });
    try {
      await inTime(done.promise, until);
      return [...events.values()];
    } finally {
      asked.delete(id);
      write("CLOSE", id);
    }
  };

  return {
    url,
    lost: lost.promise,
    subscribe(filter, listener) {
      ask(filter, { heard: listener.event, ended: listener.caughtUp, failed: end });
    },
    query,
    async publish(event, until) {
      until.throwIfAborted();
      let reason = await publishOnce(event, until);
      if (reason === "auth-required") {
        // The challenge came before, or comes right behind the refusal: the answer to one more question comes after it.
        await query({ kinds: [event.kind], authors: [event.pubkey], limit: 1 }, until).catch(() => undefined);
        reason = await publishOnce(event, until);
      }
      const failure = refusalOf(reason);
      if (failure !== undefined) throw failure;
    },
    pause: () => socket.pause(),
    get isPaused() {
      return socket.isPaused;
    },
    resume: () => socket.resume(),
    close() {
      socket.close(1000);
      setImmediate(() => end(gone()));
    },
  };
}

const gone = (): SvcError => new SvcError("REMOTE_UNREACHABLE", "The connection to the relay has ended.");

/** Word before the colon, which programs read: `duplicate`, `auth-required` … */
function reasonIn(words: Json | undefined): string {
  return typeof words === "string" ? (/^([a-z-]{1,32}):/.exec(words)?.[1] ?? "") : "";
}

function refusalOf(reason: string): SvcError | undefined {
  if (reason === "" || reason === "duplicate") return undefined;
  if (reason === "rate-limited" || reason === "error") {
    return new SvcError("REMOTE_UNREACHABLE", "The relay does not take the message now.");
  }
  if (reason === "auth-required")
    return new SvcError("CHANNEL_UNAUTHORIZED", "The relay does not accept this account.");
  return new SvcError("DELIVERY_REFUSED", "The relay refuses the message.");
}
