/** What the sender sees while a message is answered: that it was read, and "… is writing". Nothing waits for either. */
import { type Channel, type Clock, type Inbound, type Logger, SvcError } from "@svc/contract";
import { KeyedQueue, withTimeout } from "@svc/kit/async";
import type { InboxMessage } from "@svc/store";
import { jsonAs } from "@svc/kit";

export interface PresenceDeps {
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborted by the shutdown: a platform that hangs would hold up the end of the process. */
  readonly stopping: AbortSignal;
}

/** An answer that is there at once needs no "… is writing" before it. */
const TYPING_AFTER_MS = 300;
/** Whatever a channel says, a platform is not called more often. */
const SHORTEST_MS = 1_000;
/** Given as the reason of an abort: without one, each message would cost an exception with its stack. */
const OVER = new SvcError("TURN_CANCELLED", "The turn is over.");

export class Presence {
  readonly #clock;
  readonly #calls: BestEffortCalls;
  /** By message: read marks that are to be removed, and when each was set. */
  readonly #marks = new Map<number, Promise<void>>();

  constructor(deps: PresenceDeps) {
    this.#clock = deps.clock;
    this.#calls = new BestEffortCalls(deps);
  }

  /** "… is writing" until `Typing.end`. */
  type(channel: Channel, inbound: Inbound): Typing {
    return new Typing(() => this.#showTyping(channel, inbound));
  }

  /** Until the result is called. */
  #showTyping({ typing }: Channel, { conversation, id }: Inbound): () => void {
    if (!typing) return () => {};
    const stop = new AbortController();
    const show = async (): Promise<void> => {
      await typing.start(conversation, id, stop.signal);
      await this.#clock.sleep(Math.max(SHORTEST_MS, typing.lastsMs), stop.signal);
    };
    const goOn = (): void => {
      show().then(goOn, (error: unknown) => {
        if (!stop.signal.aborted) this.#calls.note({ channel: conversation.channel, what: "typing" }, error);
      });
    };
    const cancel = this.#clock.after(TYPING_AFTER_MS, goOn);
    return () => {
      cancel();
      stop.abort(OVER);
    };
  }

  /** Its first attempt begins. */
  markRead({ readMarks }: Channel, { n, channel, body }: InboxMessage): void {
    const { conversation, id } = jsonAs<Inbound>(body);
    if (!readMarks || id === undefined || this.#marks.has(n)) return;
    const call = (signal: AbortSignal): Promise<void> => readMarks.mark(conversation, id, signal);
    const marked = this.#calls.now({ channel, what: "read mark", call });
    if (marked && readMarks.clear) this.#marks.set(n, marked);
  }

  /** The message has ended, whichever way. An earlier process may have marked it. */
  clearMark(of: Channel | undefined, { n, channel, body, attempts }: InboxMessage): void {
    const { readMarks } = of ?? {};
    const marked = this.#marks.get(n) ?? (attempts > 0 ? Promise.resolve() : undefined);
    this.#marks.delete(n);
    const { conversation, id } = jsonAs<Inbound>(body);
    if (!readMarks?.clear || !marked || id === undefined) return;
    const call = async (signal: AbortSignal): Promise<void> => readMarks.clear?.(conversation, id, signal);
    // A mark that comes after it would stay.
    void marked.then(() => this.#calls.soon({ channel, what: "end of a read mark", call }));
  }
}

export class Typing {
  readonly #show: () => () => void;
  #hide: () => void;
  #isOver = false;

  /** `show` returns what ends it. */
  constructor(show: () => () => void) {
    this.#show = show;
    this.#hide = show();
  }

  /** Nothing is written while an approval is awaited. */
  async whileSilent<T>(wait: () => Promise<T>): Promise<T> {
    this.#hide();
    try {
      return await wait();
    } finally {
      if (!this.#isOver) this.#hide = this.#show();
    }
  }

  end(): void {
    this.#isOver = true;
    this.#hide();
  }
}

export interface BestEffortCall {
  readonly channel: string;
  /** For the log. */
  readonly what: string;
  readonly call: (signal: AbortSignal) => Promise<void>;
}

/** Of one call. */
const LIMIT_MS = 30_000;
/** Calls of one channel at the same time. */
const MAX_OPEN = 16;
/** Calls of one channel behind those. */
const MAX_WAITING = 1_000;

/**
 * Small calls to platforms that nothing waits for. Each channel has a few at a time, since one that hangs would take a connection
 * for each message, and each call has a time limit. A failure is logged and ignored.
 */
export class BestEffortCalls {
  readonly #deps: PresenceDeps;
  /** By channel. */
  readonly #calls = new KeyedQueue<string>(MAX_OPEN);

  constructor(deps: PresenceDeps) {
    this.#deps = deps;
  }

  /** Begins it now. Resolves when it is over; undefined: too many are open, and it is left out. */
  now(call: BestEffortCall): Promise<void> | undefined {
    return this.#hasRoom(call, MAX_OPEN) ? this.#run(call) : undefined;
  }

  /** Begins it as soon as fewer are open. */
  soon(call: BestEffortCall): void {
    if (this.#hasRoom(call, MAX_OPEN + MAX_WAITING)) void this.#run(call);
  }

  /** Only the error's name: its message may be the platform's words. */
  note({ channel, what }: Pick<BestEffortCall, "channel" | "what">, error: unknown): void {
    const reason = error instanceof Error ? ((error as { code?: string }).code ?? error.name) : typeof error;
    this.#deps.log.debug("the platform was not told", { channel, what, reason });
  }

  #hasRoom({ channel }: BestEffortCall, most: number): boolean {
    return this.#calls.count(channel) < most && !this.#deps.stopping.aborted;
  }

  /** Never rejects. */
  async #run(call: BestEffortCall): Promise<void> {
    const { clock, stopping: signal } = this.#deps;
    const limit = { clock, timeoutMs: LIMIT_MS, signal, error: () => new SvcError("REMOTE_TIMEOUT") };
    try {
      await this.#calls.run(call.channel, () => withTimeout(limit, call.call), signal);
    } catch (error) {
      if (!signal.aborted) this.note(call, error);
    }
  }
}
