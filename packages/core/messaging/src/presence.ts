/** What the sender sees while a message is answered: that it was read, and "… is writing". Nothing waits for either. */
import { type Channel, type Clock, type Inbound, type Logger, SvcError } from "@svc/contract";
import { LinkedList, keepScope } from "@svc/runtime";
import { unlessAborted } from "@svc/kit/async";
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

interface CallQueue {
  readonly open: Set<AbortController>;
  readonly waiting: LinkedList<() => void>;
}

/**
 * Small calls to platforms that nothing waits for. Each channel has a few at a time, since one that hangs would take a connection
 * for each message, and each call has a time limit. A failure is logged and ignored.
 */
export class BestEffortCalls {
  readonly #deps: PresenceDeps;
  readonly #queues = new Map<string, CallQueue>();

  constructor(deps: PresenceDeps) {
    this.#deps = deps;
    deps.stopping.addEventListener("abort", () => {
      for (const { open, waiting } of this.#queues.values()) {
        for (const one of open) one.abort();
        while (waiting.shift());
      }
    });
  }

  /** Begins it now. Resolves when it is over; undefined: too many are open, and it is left out. */
  now(call: BestEffortCall): Promise<void> | undefined {
    const queue = this.#queueOf(call.channel);
    return this.#isFree(queue) ? this.#run(queue, call) : undefined;
  }

  /** Begins it as soon as fewer are open. */
  soon(call: BestEffortCall): void {
    const queue = this.#queueOf(call.channel);
    if (this.#isFree(queue)) void this.#run(queue, call);
    else if (queue.waiting.size < MAX_WAITING) queue.waiting.add(keepScope(() => void this.#run(queue, call)));
  }

  /** Only the error's name: its message may be the platform's words. */
  note({ channel, what }: Pick<BestEffortCall, "channel" | "what">, error: unknown): void {
    const reason = error instanceof Error ? ((error as { code?: string }).code ?? error.name) : typeof error;
    this.#deps.log.debug("the platform was not told", { channel, what, reason });
  }

  #queueOf(channel: string): CallQueue {
    let queue = this.#queues.get(channel);
    if (!queue) this.#queues.set(channel, (queue = { open: new Set(), waiting: new LinkedList() }));
    return queue;
  }

  #isFree({ open }: CallQueue): boolean {
    return open.size < MAX_OPEN && !this.#deps.stopping.aborted;
  }

  async #run({ open, waiting }: CallQueue, call: BestEffortCall): Promise<void> {
    const end = new AbortController();
    open.add(end);
    const cancel = this.#deps.clock.after(LIMIT_MS, () => end.abort());
    try {
      await unlessAborted(() => call.call(end.signal), end.signal);
    } catch (error) {
      this.note(call, error);
    } finally {
      cancel();
      open.delete(end);
      waiting.shift()?.();
    }
  }
}
