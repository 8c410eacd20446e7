/**
 * The turns that run or wait, with their time limits, and the queue in which they wait: a caller that stops one need not know where
 * it came from.
 */
import { type ClientId, type Clock, SvcError, type TurnEvent, postponed } from "@svc/contract";
import type { PartialAnswer, SentFile } from "@svc/store";
import { newTurnId } from "@svc/store/turn-id";
import type { CancelSignal, TurnRequest } from "../types.ts";
import { type Conversation, conversationKey } from "./history.ts";
import type { LanguageModelV4Message } from "@ai-sdk/provider";
import type { Meter } from "../cost.ts";
import { ConversationQueue, type QueuedItem, type Run } from "../conversation-queue.ts";

/** Why a turn was stopped of which nothing may stay, not even what it did. */
export const REMOVED = "its conversation was removed";

interface ActiveTurnDeps {
  /** Name of the agent that answers. */
  readonly agent: string;
  /** What the owner calls the conversation. */
  readonly name: string;
  readonly clock: Clock;
  readonly timer: LimitTimer;
}

export class ActiveTurn {
  readonly id: string;
  readonly request: TurnRequest;
  readonly agent: string;
  readonly owner: ClientId;
  /** What the owner calls the conversation. */
  readonly name: string;
  /** Names the conversation among all, and its queue. */
  readonly key: string;
  readonly limit: TimeLimit;
  /** Undefined while the turn waits. */
  conversation: Conversation | undefined;
  /** When the message was sent. Wall clock. */
  readonly sentAt: number;
  /** Id of its conversation, once the message is on disk by itself. */
  storedIn: string | undefined;
  /**
   * Resolves when its message is on disk, rejects with STORE_*. Until then no tool runs and no event is told, but the model may be
   * asked: a turn that ends at once is then one commit instead of two. undefined: the message is on disk by other means.
   */
  storing: Promise<void> | undefined;
  /** What it waits for before it begins, if it follows or replaces a turn, or has files. */
  ready: Promise<void> | undefined;
  /** It was begun, and settles by itself from then on. */
  isBegun = false;
  /** Begins its conversation. */
  isFirst = false;
  /** Its conversation, if the request did not name one. */
  unnamed: Conversation | undefined;
  /** Id of its conversation, once that was looked for. */
  openedAs: string | undefined;
  #held: TurnEvent[] | undefined;
  /** What it has done so far; undefined while it waits. */
  progress: TurnProgress | undefined;
  /** Characters of its answer that were told. */
  toldChars = 0;
  /** What its message came with, once it is in the workspace. */
  files: readonly SentFile[] = [];
  /** Wall clock; 0 while it waits. */
  startedAt = 0;
  /** Among those that run; undefined while it waits. */
  permit: Permit | undefined;
  /** Where it stands among the active ones. */
  slot = -1;
  /** Order of arrival. */
  number = 0;
  #isAsking = false;
  #isDraining = false;
  #isClosing = false;

  constructor(request: TurnRequest, { agent, name, clock, timer }: ActiveTurnDeps) {
    const { owner = request.clientId, signal } = request;
    this.id = request.turnId ?? newTurnId();
    this.request = request;
    this.agent = agent;
    this.owner = owner;
    this.name = name;
    this.key = conversationKey(owner, name);
    this.limit = new TimeLimit(timer, signal);
    this.sentAt = clock.now();
  }

  /** Its message came with files. */
  get hasFiles(): boolean {
    const { files = [], filesAgain = [] } = this.request;
    return files.length + filesAgain.length > 0;
  }

  /** What was told of an answer that is not whole. */
  get partial(): PartialAnswer | undefined {
    return this.progress?.partial;
  }

  /** Holds events back until `release`. */
  hold(): void {
    this.#held = [];
  }

  /** Whether the event is held back. */
  holds(event: TurnEvent): boolean {
    this.#held?.push(event);
    return this.#held !== undefined;
  }

  /** From here on nothing is held back. Returns what was, in order. */
  release(): readonly TurnEvent[] {
    const held = this.#held ?? [];
    this.#held = undefined;
    return held;
  }

  /** Tells whether it can still be stopped; if so, it will end with TURN_CANCELLED, for this `cause`. */
  stop(by: string, cause?: unknown): boolean {
    if (this.#isClosing || this.limit.isOver) return false;
    this.limit.stop(new SvcError("TURN_CANCELLED", `The turn was stopped by ${by}.`, { cause }));
    return true;
  }

  /** Runs a wait for a person, with the clock stopped, and holding up nobody else. */
  async whileAsking<T>(wait: () => Promise<T>): Promise<T> {
    const { limit, permit } = this;
    if (this.#isDraining) this.#callOff();
    limit.throwIfOver();
    this.#isAsking = true;
    try {
      return await limit.paused(() => (permit ? permit.whileReleased(wait, limit.signal) : wait()));
    } finally {
      this.#isAsking = false;
    }
  }

  /** From here on it waits for no person: people take longer than a shutdown may. */
  drain(): void {
    this.#isDraining = true;
    if (this.#isAsking) this.#callOff();
  }

  #callOff(): void {
    const { resumable } = this.request;
    this.limit.stop(resumable ? postponed() : new SvcError("TURN_CANCELLED", "The service is stopping."));
  }

  /** There is an answer, and it is being kept: too late to stop. Throws the reason when somebody was quicker. */
  close(): void {
    this.limit.throwIfOver();
    this.#isClosing = true;
  }

  /** It failed: too late to stop. Returns what it failed with, which is the reason when somebody was quicker. */
  fail(error: unknown): unknown {
    const isStopped = !this.#isClosing && this.limit.isOver;
    this.#isClosing = true;
    return isStopped ? this.limit.reason : error;
  }
}

/**
 * Every turn enters and leaves, and seldom does anybody look for one. An array, because what a Set leaves behind when it
 * grows holds on to turns that are long over, until the next full collection: 3 µs a turn, measured.
 */
export class ActiveTurns {
  readonly #turns: ActiveTurn[] = [];
  #added = 0;
  #isDraining = false;

  add(turn: ActiveTurn): void {
    if (this.#isDraining) turn.drain();
    turn.slot = this.#turns.push(turn) - 1;
    turn.number = this.#added += 1;
  }

  /** The last one takes the free slot. */
  delete(turn: ActiveTurn): void {
    if (this.#turns[turn.slot] !== turn) return;
    const last = this.#turns.pop()!;
    if (last === turn) return;
    this.#turns[turn.slot] = last;
    last.slot = turn.slot;
  }

  /** Conversations of which a turn runs or waits. */
  keys(): ReadonlySet<string> {
    return new Set(this.#turns.map(({ key }) => key));
  }

  /** How many run or wait in a conversation. */
  count(key: string): number {
    let count = 0;
    for (const turn of this.#turns) if (turn.key === key) count += 1;
    return count;
  }

  /** Those whose messages are on disk by themselves, in order of arrival. `key`: of one conversation. */
  stored(key?: string): (ActiveTurn & { storedIn: string })[] {
    return this.#turns
      .filter((turn): turn is ActiveTurn & { storedIn: string } => turn.storedIn !== undefined)
      .filter((turn) => key === undefined || turn.key === key)
      .sort((a, b) => a.number - b.number);
  }

  /** Stops what runs and what waits behind it. Tells whether there was anything that could be stopped. */
  stop(key: string, by: string, cause?: unknown): boolean {
    const stopped = this.#turns.filter((turn) => turn.key === key).map((turn) => turn.stop(by, cause));
    return stopped.includes(true);
  }

  /** See `Agent.drain`. */
  drain(): void {
    this.#isDraining = true;
    for (const turn of this.#turns) turn.drain();
  }

  /** Those that run, oldest first. */
  running(): (ActiveTurn & { conversation: Conversation })[] {
    return this.#turns
      .filter((turn): turn is ActiveTurn & { conversation: Conversation } => turn.conversation !== undefined)
      .sort((a, b) => a.startedAt - b.startedAt);
  }
}

/**
 * Ends a turn early: on timeout, when the caller cancels, or when someone else stops it. The time does not run while the turn waits for a
 * person.
 */
export class TimeLimit {
  /** What holds the turn up now: says what the turn fails with when the time is up meanwhile. Its code is TURN_TIMEOUT. */
  waitsFor: { timeoutError(): SvcError } | undefined = undefined;
  /** Where it stands among those whose time runs; -1: it does not. */
  slot = -1;
  /** Monotonic, while its time runs. */
  dueMs = 0;
  #reason: unknown = undefined;
  #controller: AbortController | undefined = undefined;
  readonly #timer: LimitTimer;
  readonly #outer: CancelSignal;
  readonly #onOuterAbort = (): void =>
    this.#end(new SvcError("TURN_CANCELLED", undefined, { cause: this.#outer.reason }));

  /** The time does not run yet; the caller can cancel from now on. */
  constructor(timer: LimitTimer, outer: CancelSignal) {
    this.#timer = timer;
    this.#outer = outer;
    if (outer.aborted) this.#onOuterAbort();
    else outer.addEventListener("abort", this.#onOuterAbort);
  }

  get isOver(): boolean {
    return this.#reason !== undefined;
  }

  /** Why it is over. */
  get reason(): unknown {
    return this.#reason;
  }

  /** Aborted when it is over. Made when something asks for it first: most turns end before. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.isOver) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  throwIfOver(): void {
    if (this.isOver) throw this.#reason;
  }

  start(limitMs: number): void {
    this.#timer.start(this, limitMs);
  }

  stop(reason: SvcError): void {
    this.#end(reason);
  }

  timeIsUp(): void {
    this.#end(this.waitsFor?.timeoutError() ?? new SvcError("TURN_TIMEOUT"));
  }

  /** Runs `wait` with the clock stopped. */
  async paused<T>(wait: () => Promise<T>): Promise<T> {
    const remainingMs = this.#timer.stop(this);
    try {
      return await wait();
    } finally {
      this.#timer.start(this, remainingMs);
    }
  }

  end(): void {
    this.#timer.stop(this);
    this.#outer.removeEventListener("abort", this.#onOuterAbort);
  }

  #end(reason: unknown): void {
    if (this.isOver) return;
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}

/**
 * One timer for the time limits of all turns: a turn is over long before its time is up, and a timer of its own would be made and
 * cancelled for nothing. It is set for the limit that is due first, or for one that was.
 */
export class LimitTimer {
  readonly #clock: Clock;
  readonly #running: TimeLimit[] = [];
  #setForMs = Infinity;
  #cancel: () => void = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  start(limit: TimeLimit, limitMs: number): void {
    limit.dueMs = this.#clock.monotonic() + Math.max(0, limitMs);
    if (limit.slot < 0) limit.slot = this.#running.push(limit) - 1;
    if (limit.dueMs < this.#setForMs) this.#set(limit.dueMs);
  }

  /** Returns the milliseconds that were left. */
  stop(limit: TimeLimit): number {
    if (limit.slot < 0) return 0;
    // The last one takes the free slot.
    const last = this.#running.pop()!;
    if (last !== limit) {
      this.#running[limit.slot] = last;
      last.slot = limit.slot;
    }
    limit.slot = -1;
    if (this.#running.length === 0) {
      this.#cancel();
      this.#setForMs = Infinity;
    }
    return limit.dueMs - this.#clock.monotonic();
  }

  #set(atMs: number): void {
    this.#cancel();
    this.#setForMs = atMs;
    this.#cancel = this.#clock.after(atMs - this.#clock.monotonic(), () => this.#ring());
  }

  #ring(): void {
    this.#setForMs = Infinity;
    const nowMs = this.#clock.monotonic();
    for (const limit of this.#running.filter(({ dueMs }) => dueMs <= nowMs)) {
      this.stop(limit);
      limit.timeIsUp();
    }
    const next = this.#running.reduce((least, { dueMs }) => Math.min(least, dueMs), Infinity);
    if (next < this.#setForMs) this.#set(next);
  }
}

/** What a turn has done so far; complete even when it ends by an error. */
export interface TurnProgress {
  readonly id: string;
  /** The messages this turn adds to the conversation. */
  messages: LanguageModelV4Message[];
  readonly meter: Meter;
  /** An acting tool was started. */
  acted: boolean;
  /** What was told of an answer that is not in `messages` yet. */
  partial: PartialAnswer | undefined;
  /** The write that ends it, from when it was asked for. */
  ending?: Promise<unknown>;
}

// Turns in the queue of conversations: jobs whose callers wait for them, in the order of arrival.

/** Jobs waiting beyond this are refused with BUSY: memory must not grow with the callers' impatience. */
const MAX_WAITING = 10_000;
/** Jobs that have released their permits: each holds its conversation in memory. */
const MAX_RELEASED = 1_000;

/** Gives up its wait when the signal is aborted. */
interface Caller {
  readonly signal: AbortSignal;
}

/** A class, as a link of a list is (`LinkedList`): an object literal would keep its turn in memory. */
class Job implements QueuedItem {
  readonly n: number;
  readonly conversationKey: string;
  readonly channel = "";
  readonly isAlone: boolean;
  /** Set when it begins. */
  run: Run | undefined = undefined;
  /** Called when it begins, if it had to wait. */
  start: (() => void) | undefined = undefined;

  constructor(n: number, conversationKey: string, isAlone: boolean) {
    this.n = n;
    this.conversationKey = conversationKey;
    this.isAlone = isAlone;
  }
}

export class TurnQueue {
  readonly #queue: ConversationQueue<Job>;
  readonly #released = { count: 0 };
  #waiting = 0;
  #arrived = 0;

  constructor(maxParallel: number) {
    const begin = (job: Job, run: Run): void => {
      job.run = run;
      job.start?.();
    };
    this.#queue = new ConversationQueue({ begin, maxParallel });
    this.#queue.start();
  }

  /**
   * Runs `work` when its conversation is free and there is a permit. Rejects with BUSY, with the reason of the caller's signal when
   * that is aborted before the job's turn has come, or with what the job rejects with. A caller that need not wait is asked for no signal.
   */
  async run<T>(key: string, work: (permit: Permit) => Promise<T>, caller?: Caller): Promise<T> {
    const job = this.#job(key);
    if (!this.#queue.isFree(job)) {
      caller?.signal.throwIfAborted();
      if (this.#waiting >= MAX_WAITING) throw new SvcError("BUSY", undefined, { retryAfterMs: 1000 });
    }
    this.#queue.add(job);
    if (!job.run) await this.#wait(job, caller?.signal);
    const run = job.run!;
    const permit = new Permit(run, this.#released);
    try {
      return await work(permit);
    } finally {
      if (permit.isOver) this.#released.count -= 1;
      run.end("over");
    }
  }

  /** Runs `work` when its conversation is free, without a permit: it must not wait for other conversations, nor be refused. */
  async alone<T>(key: string, work: () => Promise<T>): Promise<T> {
    const job = this.#job(key, true);
    this.#queue.add(job);
    if (!job.run) await new Promise<void>((start) => (job.start = start));
    try {
      return await work();
    } finally {
      job.run!.end("over");
    }
  }

  /** What runs beyond a smaller limit runs on. */
  resize(maxParallel: number): void {
    this.#queue.resize(maxParallel);
  }

  get running(): number {
    return this.#queue.running;
  }

  get waiting(): number {
    return this.#waiting;
  }

  #job(key: string, isAlone = false): Job {
    return new Job((this.#arrived += 1), key, isAlone);
  }

  async #wait(job: Job, signal: AbortSignal | undefined): Promise<void> {
    this.#waiting += 1;
    await new Promise<void>((resolve, reject) => {
      const giveUp = (): void => {
        this.#waiting -= 1;
        this.#queue.remove(job);
        reject(signal?.reason);
      };
      job.start = () => {
        this.#waiting -= 1;
        signal?.removeEventListener("abort", giveUp);
        resolve();
      };
      signal?.addEventListener("abort", giveUp, { once: true });
    });
  }
}

/**
 * The right to ask models and run tools. A turn releases it while it waits for an approval: a few questions without an answer would
 * else stop all turns.
 */
export class Permit {
  readonly #run: Run;
  /** Of all jobs of the queue. */
  readonly #released: { count: number };
  /** It was released for good. */
  isOver = false;
  #isHeld = true;

  constructor(run: Run, released: { count: number }) {
    this.#run = run;
    this.#released = released;
  }

  /** Only the wait for the disk is left. Turns that end together are one commit, however few may run at the same time. */
  release(): void {
    if (this.#letGo()) this.isOver = true;
  }

  /** Runs `wait` without the permit and reacquires it; rejects with the signal's reason when it is aborted by then. */
  async whileReleased<T>(wait: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (!this.#letGo()) return wait();
    try {
      return await wait();
    } finally {
      this.#released.count -= 1;
      await this.#run.reacquire(signal);
      this.#isHeld = true;
    }
  }

  /** False: so many are released that this one is kept. */
  #letGo(): boolean {
    if (!this.#isHeld || this.#released.count >= MAX_RELEASED) return false;
    this.#released.count += 1;
    this.#isHeld = false;
    this.#run.release();
    return true;
  }
}
