/** One browser for each client that has opened a page: no one ever meets another's cookies, storage or pages. */
import { type ClientId, type Clock, type Logger, SvcError } from "@svc/contract";
import { unlessAborted } from "../async/timeout.ts";
import { Semaphore } from "../async/queues.ts";
import type { BrowserDriver, DriverSession } from "./driver.ts";
import type { BrowserGuard } from "./guard.ts";
import { type GuardingProxy, startGuardingProxy } from "./guarding-proxy.ts";

export interface BrowserSessions {
  /**
   * Runs `work` in the client's browser, one call after the other. Without one it is started (`start`), or the call is refused with
   * BROWSER_FAILED. Throws BROWSER_UNAVAILABLE.
   */
  use<T>(clientId: ClientId, how: UseOptions, work: (session: OpenSession) => Promise<T>): Promise<T>;
  /** Returns whether a browser was open. The client's next call that needs it gets `why` as its reason. */
  close(clientId: ClientId, why: string): Promise<boolean>;
  /** Closes all, for good. */
  shutdown(): Promise<void>;
}

export interface UseOptions {
  readonly start: boolean;
  readonly signal: AbortSignal;
}

export interface SessionsOptions {
  readonly driver: BrowserDriver;
  readonly guard: BrowserGuard;
  readonly clock: Clock;
  readonly log: Logger;
  /** Without a call for that long a browser is closed. */
  readonly idleMs: number;
  /** Browsers at once. Default 4: each takes several hundred megabytes. */
  readonly most?: number;
}

export function browserSessions(options: SessionsOptions): BrowserSessions {
  const { most = 4 } = options;
  const seats = new Map<ClientId, Seat>();
  let closed = false;

  const seatOf = (clientId: ClientId): Seat => {
    const seat = seats.get(clientId) ?? new Seat(options);
    // Last in the map is who was here last.
    seats.delete(clientId);
    seats.set(clientId, seat);
    for (const [id, old] of seats) if (seats.size > MAX_SEATS && old.isIdle && !old.isOpen) seats.delete(id);
    return seat;
  };

  const makeRoom = async (forWhom: Seat): Promise<void> => {
    const open = [...seats.values()].filter((seat) => seat !== forWhom && seat.isOpen);
    if (open.length < most) return;
    const oldest = open.find((seat) => seat.isIdle);
    if (oldest === undefined) {
      throw new SvcError("BROWSER_UNAVAILABLE", "As many browsers as there may be are at work.", {
        retryAfterMs: 5000,
      });
    }
    await oldest.close("it was closed to make room for another session; it was unused for the longest time");
  };

  return {
    async use(clientId, { start, signal }, work) {
      if (closed) throw shutDown();
      const seat = seatOf(clientId);
      return seat.alone(signal, async () => {
        if (closed) throw shutDown();
        if (!seat.isOpen && !start) throw nothingOpen(seat.takeReason());
        const isStuck = (): boolean => start && seat.session?.driver.isStuck === true;
        if (seat.isOpen && !isStuck()) {
          try {
            return await work(seat.session as OpenSession);
          } catch (error) {
            // What stood in the way of a page that is to be opened was the page before.
            if (!isStuck() || signal.aborted) throw error;
          }
        }
        if (isStuck()) await seat.close("its page did not answer any more");
        await seat.open(signal, () => makeRoom(seat));
        if (closed) {
          await seat.close("svc was shut down");
          throw shutDown();
        }
        return work(seat.session as OpenSession);
      });
    },
    async close(clientId, why) {
      return (await seats.get(clientId)?.close(why)) ?? false;
    },
    async shutdown() {
      closed = true;
      await Promise.allSettled([...seats.values()].map((seat) => seat.close("svc was shut down")));
      seats.clear();
    },
  };
}

/** Of clients that are remembered, to say why their browser is gone. */
const MAX_SEATS = 1000;

/** A client's place: with a browser or without. */
class Seat {
  session: OpenSession | undefined;
  readonly #options: SessionsOptions;
  #opening = false;
  #calls = 0;
  readonly #lock = new Semaphore(1);
  #cancelIdle: (() => void) | undefined;
  #reason: string | undefined;

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.session !== undefined || this.#opening;
  }

  /** No one works in it, or waits to. */
  get isIdle(): boolean {
    return this.#calls === 0;
  }

  /** Why there is no browser any more; told once. */
  takeReason(): string | undefined {
    const reason = this.#reason;
    this.#reason = undefined;
    return reason;
  }

  async alone<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    this.#calls += 1;
    this.#cancelIdle?.();
    try {
      const permit = await this.#lock.acquire(signal);
      try {
        return await work();
      } finally {
        // An action that was given up may still act in the browser.
        void Promise.resolve(this.session?.settled()).finally(() => permit.release());
      }
    } finally {
      this.#calls -= 1;
      this.#awaitNextCall();
    }
  }

  async open(signal: AbortSignal, makeRoom: () => Promise<void>): Promise<void> {
    // Counted from now on: two that open at once make room for each other.
    this.#opening = true;
    try {
      await makeRoom();
      const session = await openSession(this.#options, signal);
      const why = this.takeReason();
      if (why !== undefined) session.notes.push(`This is a new browser: there was one before, but ${why}.`);
      this.session = session;
      void session.ended.then(() => this.#lost(session));
    } finally {
      this.#opening = false;
    }
  }

  async close(why: string): Promise<boolean> {
    const { session } = this;
    if (session === undefined) return false;
    this.session = undefined;
    this.#reason = why;
    this.#cancelIdle?.();
    await session.close();
    return true;
  }

  #lost(session: OpenSession): void {
    if (this.session !== session) return;
    this.#options.log.warn("a browser ended by itself");
    void this.close("it ended by itself");
  }

  #awaitNextCall(): void {
    if (this.#calls > 0 || this.session === undefined) return;
    const { clock, idleMs } = this.#options;
    this.#cancelIdle?.();
    this.#cancelIdle = clock.after(idleMs, () => {
      void this.close(`it was closed after ${Math.round(idleMs / 1000)} seconds without a call`);
    });
  }
}

const nothingOpen = (why: string | undefined): SvcError =>
  new SvcError("BROWSER_FAILED", `No page is open${why === undefined ? "" : `: there was a browser, but ${why}`}.`, {
    hint: "Begin with the action open.",
  });

const shutDown = (): SvcError => new SvcError("BROWSER_UNAVAILABLE", "The browser is being shut down.");

/** A driver's browser with the proxy that guards it. */
export interface OpenSession {
  readonly driver: DriverSession;
  /** undefined where the driver is not proxied. */
  readonly proxy: GuardingProxy | undefined;
  /** Sentences for the next result. */
  readonly notes: string[];
  readonly ended: Promise<void>;
  /** Resolves once nothing acts in it any more: after the work that `busyUntil` was told of. */
  settled(): Promise<void>;
  /** Work that goes on although no one waits for its result. */
  busyUntil(work: Promise<unknown>): void;
  /** Idempotent. */
  close(): Promise<void>;
}

export interface OpenSessionOptions {
  readonly driver: BrowserDriver;
  readonly guard: BrowserGuard;
  readonly clock: Clock;
  readonly log: Logger;
}

async function openSession(options: OpenSessionOptions, signal: AbortSignal): Promise<OpenSession> {
  const { driver, guard, clock, log } = options;
  signal.throwIfAborted();
  const proxy = driver.proxied
    ? await startGuardingProxy({ guard, clock, log, password: driver.proxyPassword })
    : undefined;
  let opened: DriverSession;
  try {
    opened = await openedBy(driver, proxy, signal);
  } catch (error) {
    await proxy?.close();
    throw error;
  }
  let busy: Promise<unknown> = Promise.resolve();
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await opened.close().catch((error: unknown) => log.warn("a browser could not be closed", { error: nameOf(error) }));
    await proxy?.close();
  };
  return {
    driver: opened,
    proxy,
    notes: [],
    ended: opened.ended,
    settled: async () => void (await busy),
    busyUntil: (work) => (busy = Promise.allSettled([busy, work])),
    close: () => (closed ??= close()),
  };
}

/** Anyone who stops waiting leaves no browser behind that comes up later. */
async function openedBy(
  driver: BrowserDriver,
  proxy: GuardingProxy | undefined,
  signal: AbortSignal,
): Promise<DriverSession> {
  const opening = driver.open({ proxy: proxy?.access, signal });
  try {
    return await unlessAborted(opening, signal);
  } catch (cause) {
    if (signal.aborted) opening.then((late) => late.close()).catch(() => undefined);
    signal.throwIfAborted();
    throw cause instanceof SvcError ? cause : new SvcError("BROWSER_UNAVAILABLE", undefined, { cause });
  }
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : "unknown");
