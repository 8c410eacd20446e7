/**
 * Who comes next: one message of a lane at a time and in order, lanes side by side up to a limit, in the order in which
 * they became ready. Of a message only its number is here; what it says is read from disk when its turn has come.
 */
import { inScope, LinkedList } from "@svc/kernel";
import type { WaitingMessage } from "@svc/store";
import { Asides } from "./asides.ts";
import { HeldLanes } from "./held-lanes.ts";
import { emptyLane, type Lane, takeOut } from "./lane.ts";
import type { LaneOptions } from "./lane-options.ts";
import { CrashQuarantine, suspectDelayMs } from "../crash-quarantine.ts";

export class InboxLanes {
  readonly #options: LaneOptions;
  readonly #lanes = new Map<string, Lane>();
  readonly #ready = new LinkedList<Lane>();
  readonly #held: HeldLanes<Lane>;
  readonly #suspects = new CrashQuarantine<Lane>();
  readonly #asides = new Asides();
  #maxParallel: number;
  #running = 0;
  #size = 0;
  #isStarted = false;
  #isFilling = false;

  constructor(options: LaneOptions) {
    this.#options = options;
    this.#maxParallel = options.maxParallel;
    this.#held = new HeldLanes(options, (lanes) => this.#readyAgain(lanes));
  }

  /** Messages that wait, those that run included. */
  get size(): number {
    return this.#size;
  }

  sizeOf(key: string): number {
    return this.#lanes.get(key)?.messages.size ?? 0;
  }

  /** Until then what is added waits. */
  start(): void {
    this.#isStarted = true;
    this.#fillSoon();
  }

  /** Begins nothing more. */
  stop(): void {
    this.#isStarted = false;
    this.#held.stop();
    for (const lane of this.#lanes.values()) lane.cancelRest?.();
  }

  /** What runs beyond a smaller limit runs on. What is held is looked at now. */
  resize(maxParallel: number): void {
    this.#maxParallel = maxParallel;
    this.#held.look();
    this.#fillSoon();
  }

  add(message: WaitingMessage): void {
    const lane = this.#laneOf(message);
    const restMs = suspectDelayMs(message.crashes);
    if (restMs > 0 && lane.messages.size === 0) {
      lane.cancelRest ??= this.#options.clock.after(restMs, () => this.#endRest(lane));
    }
    lane.messages.add(message);
    this.#size += 1;
    this.#queue(lane);
  }

  /** Takes out, in order, those of a lane that do not run and for which this is so. */
  take(key: string, isWanted: (message: WaitingMessage) => boolean): WaitingMessage[] {
    const lane = this.#lanes.get(key);
    if (!lane) return [];
    const { first } = lane.messages;
    const taken = takeOut(lane, isWanted);
    this.#size -= taken.length;
    // What it rested for is gone.
    if (taken[0] !== undefined && taken[0] === first) this.#endRest(lane);
    this.#forget(lane);
    return taken;
  }

  /** Of those that rest between two attempts: these are attempted now. */
  endRests(isWanted: (message: WaitingMessage) => boolean): void {
    for (const lane of this.#lanes.values()) {
      if (lane.cancelRest && isWanted(lane.messages.first!)) this.#endRest(lane);
    }
  }

  /** Begins nothing more in this lane until the result is called. */
  hold(of: Pick<WaitingMessage, "lane" | "channel">): () => void {
    const lane = this.#laneOf(of);
    lane.holds += 1;
    return () => {
      lane.holds -= 1;
      this.#queue(lane);
      this.#forget(lane);
    };
  }

  /** All of them, those that run included. */
  all(): WaitingMessage[] {
    return [...this.#lanes.values()].flatMap(({ messages }) => messages.items());
  }

  #laneOf({ lane: key, channel }: Pick<WaitingMessage, "lane" | "channel">): Lane {
    let lane = this.#lanes.get(key);
    if (!lane) this.#lanes.set(key, (lane = emptyLane(key, channel)));
    return lane;
  }

  #queue(lane: Lane): void {
    if (lane.isRunning || lane.isQueued || lane.cancelRest || lane.holds > 0 || lane.messages.size === 0) return;
    lane.isQueued = true;
    this.#ready.add(lane);
    this.#fillSoon();
  }

  #readyAgain(lanes: readonly Lane[]): void {
    for (const lane of lanes) this.#ready.add(lane);
    this.#fillSoon();
  }

  /** Not at once: whoever waits for the commit, the platform above all, is answered before turns begin. */
  #fillSoon(): void {
    if (!this.#isStarted || this.#isFilling) return;
    this.#isFilling = true;
    setImmediate(() => {
      this.#isFilling = false;
      // Whoever has brought one, or ended, has nothing to do with what others brought.
      if (this.#isStarted) inScope({}, () => this.#fill());
    });
  }

  #fill(): void {
    while (this.#running < this.#maxParallel) {
      const lane = this.#ready.shift();
      if (!lane) return;
      // What it had may have been taken out, or somebody wants it to wait.
      const canRun = lane.messages.size > 0 && lane.holds === 0;
      if (canRun && (this.#held.holds(lane) || this.#suspects.holds(lane, lane.messages.first!))) continue;
      lane.isQueued = false;
      if (canRun) void this.#run(lane);
      else this.#forget(lane);
    }
  }

  async #run(lane: Lane): Promise<void> {
    const message = lane.messages.first!;
    lane.isRunning = true;
    this.#running += 1;
    this.#suspects.begin(message);
    const attempted = await this.#options.attempt(message, {
      aside: (work) => this.#aside(lane.channel, work),
      asking: (work) => this.#asking(message, work),
    });
    this.#readyAgain(this.#suspects.end(message));
    this.#running -= 1;
    lane.isRunning = false;
    if (attempted === "over") {
      lane.messages.shift();
      this.#size -= 1;
    } else if (this.#isStarted) {
      lane.cancelRest = this.#options.clock.after(attempted.restMs, () => this.#endRest(lane));
    }
    this.#queue(lane);
    this.#forget(lane);
    this.#fillSoon();
  }

  async #aside<T>(channel: string, work: () => Promise<T>): Promise<T> {
    if (!this.#asides.enter(channel)) return work();
    return this.#away(work).finally(() => this.#asides.leave(channel));
  }

  /** Nor is anything done meanwhile that a process could die of. */
  async #asking<T>(message: WaitingMessage, work: () => Promise<T>): Promise<T> {
    this.#readyAgain(this.#suspects.end(message));
    return this.#away(work).finally(() => this.#suspects.begin(message));
  }

  async #away<T>(work: () => Promise<T>): Promise<T> {
    this.#running -= 1;
    this.#fillSoon();
    try {
      return await work();
    } finally {
      this.#running += 1;
    }
  }

  #endRest(lane: Lane): void {
    lane.cancelRest?.();
    lane.cancelRest = undefined;
    this.#queue(lane);
  }

  #forget(lane: Lane): void {
    const isInUse = lane.isRunning || lane.isQueued || lane.holds > 0;
    if (!isInUse && lane.messages.size === 0) this.#lanes.delete(lane.key);
  }
}
