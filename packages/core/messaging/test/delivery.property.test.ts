// Whatever fails, whenever the process is killed: an answer before the one it follows, an answer lost, or one sent twice
// though its acceptance could have been noted.
import { join } from "node:path";
import { type Channel, type Clock, type Receipt, SvcError } from "@svc/contract";
import { openStore, type Store } from "@svc/store";
import { captureLogger } from "@svc/testkit/capture-logger";
import { fakeClock, settled } from "@svc/testkit/fake-clock";
import { type RecordedInstruments, recordedInstruments } from "@svc/testkit/observe/recorded-tracer";
import { temporaryHome } from "@svc/testkit/temporary-home";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { OutboxDispatcher } from "../src/outbox.ts";
import { SpokenAnswers } from "../src/speech/speech.ts";
import { quiet, say } from "./delivery-fixture.ts";

const MAX_ATTEMPTS = 3;
const GIVEN_UP: ReadonlySet<string> = new Set(["DELIVERY_REFUSED", "DELIVERY_CRASHED"]);
const CHATS = ["a", "b", "c"] as const;

/** What the platform does with a message; `die`: the process is killed before, or after, it has accepted. */
const MOODS = ["take", "take", "take", "slow", "fail", "later", "refuse", "hang", "die-before", "die-after"] as const;
type Mood = (typeof MOODS)[number];

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("post"),
      chats: fc.array(fc.constantFrom(...CHATS), { minLength: 1, maxLength: 4 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("wait"), ms: fc.constantFrom(1, 400, 1_000, 5_000, 70_000) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("turns"), count: fc.integer({ min: 0, max: 6 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("kill") }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("stop"), graceMs: fc.constantFrom(0, 500) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("disk"), isFull: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("channel"), isUp: fc.boolean() }) },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

test("in order within a conversation, never lost, and twice only when the kill came between the yes and its commit", async () => {
  let repeats = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 4, maxLength: 30 }),
      fc.array(fc.constantFrom(...MOODS), { maxLength: 40 }),
      async (steps, moods) => {
        using world = new World(moods);
        for (const next of steps) await world.take(next as Step);
        expect(await world.end()).toEqual([]);
        repeats += world.repeats;
      },
    ),
    { numRuns: 60 },
  );
  // The window was hit, or the property says nothing of it.
  expect(repeats).toBeGreaterThan(0);
});

/** A disk and a platform, which outlive every process. */
class World {
  readonly #home = temporaryHome();
  readonly #clock = fakeClock();
  readonly #moods: Mood[];
  readonly #accepted = new Set<number>();
  /** Accepted, and the process ended before that was on disk. */
  readonly #unnoted = new Set<number>();
  readonly #repeated = new Set<number>();
  /** What must not be, seen where throwing would be taken for the platform's doing. */
  readonly #wrong: string[] = [];
  #isFull = false;
  #isUp = true;
  #process: Process;

  constructor(moods: readonly Mood[]) {
    this.#moods = [...moods];
    this.#process = this.#start();
  }

  get repeats(): number {
    return this.#repeated.size;
  }

  async take(next: Step): Promise<void> {
    if (next.do === "post") this.#post(next.chats);
    else if (next.do === "wait") await this.#clock.advance(next.ms);
    else if (next.do === "turns") for (let turn = 0; turn < next.count; turn += 1) await settled();
    else if (next.do === "kill") this.#kill();
    else if (next.do === "stop") await this.#stop(next.graceMs);
    else if (next.do === "disk") this.#isFull = next.isFull;
    else this.#isUp = next.isUp;
  }

  /** Everything gets well; what then is not over will never be. Resolves with what went wrong. */
  async end(): Promise<string[]> {
    this.#moods.length = 0;
    this.#isFull = false;
    this.#isUp = true;
    for (let round = 0; round < 8; round += 1) {
      await this.#clock.advance(90_000);
      await quiet();
    }
    for (const { n, state, error, attempts } of this.#process.store.outbox.list({}, 1_000)) {
      const isOver = state === "sent" || GIVEN_UP.has(error!) || attempts >= MAX_ATTEMPTS;
      const isTrue = this.#accepted.has(n) === (state === "sent") || this.#repeated.has(n) || this.#unnoted.has(n);
      if (!isOver || !isTrue || state === "waiting") this.#wrong.push(`${n} ended as ${state}`);
    }
    await this.#stop(0);
    await this.#process.dispatcher.stop(0);
    return [...this.#wrong, ...(this.#clock.waiting > 0 ? ["a timer is left"] : [])];
  }

  [Symbol.dispose](): void {
    this.#process.die();
    this.#home.remove();
  }

  /** One commit each in the same group, told of in the wrong order. */
  #post(chats: readonly string[]): void {
    if (this.#isFull) return;
    const { store, dispatcher } = this.#process;
    const kept = chats.map((chat) => store.write(() => store.outbox.add([say(chat, "")], this.#clock.now())));
    void Promise.all(kept).then((rows) => dispatcher.wake(rows.flat().toReversed()));
  }

  #start(): Process {
    const file = join(this.#home.path, "svc.db");
    const isFull = (): boolean => this.#isFull;
    const next = new Process({ file, clock: this.#clock, isFull, isUp: () => this.#isUp, channel: this.#channel });
    for (const n of this.#accepted) if (next.store.outbox.read(n)?.state === "waiting") this.#unnoted.add(n);
    next.dispatcher.start();
    return next;
  }

  #kill(): void {
    this.#process.die();
    this.#process = this.#start();
  }

  async #stop(graceMs: number): Promise<void> {
    const life = this.#process;
    const stopped = life.dispatcher.stop(graceMs);
    await this.#clock.advance(graceMs);
    await Promise.race([stopped, life.ended]);
    if (!life.isDead) this.#wrong.push(...life.mistold());
    if (life === this.#process) this.#kill();
  }

  readonly #channel = (life: Process): Channel => {
    const sending = new Set<string>();
    return {
      send: async ({ conversation: { id }, deliveryId }, signal) => {
        if (sending.has(id)) this.#wrong.push(`two sends at once in ${id}`);
        sending.add(id);
        try {
          return await this.#receive(life, deliveryId, signal);
        } finally {
          sending.delete(id);
        }
      },
    };
  };

  async #receive(life: Process, deliveryId: string, signal: AbortSignal): Promise<Receipt> {
    life.sends += 1;
    const mood = this.#moods.shift() ?? "take";
    if (mood === "slow") await life.clock.sleep(300, signal);
    if (mood === "hang") await life.clock.sleep(600_000, signal);
    if (mood === "fail") throw new SvcError("DELIVERY_FAILED");
    if (mood === "later") throw new SvcError("DELIVERY_FAILED", undefined, { retryAfterMs: 20_000 });
    if (mood === "refuse") throw new SvcError("DELIVERY_REFUSED");
    if (mood === "die-before") this.#kill();
    else this.#accept(life.store, deliveryId);
    if (mood === "die-after") this.#kill();
    return life.isDead ? NEVER : {};
  }

  #accept({ outbox }: Store, deliveryId: string): void {
    const waiting = outbox.waiting();
    const row = waiting.find(({ n }) => outbox.read(n)?.deliveryId === deliveryId);
    if (!row) return void this.#wrong.push("what was over was sent");
    const { n, conversationKey } = row;
    if (waiting.find((other) => other.conversationKey === conversationKey) !== row)
      this.#wrong.push(`${n} overtook another`);
    if (this.#accepted.has(n)) {
      this.#repeated.add(n);
      if (!this.#unnoted.delete(n)) this.#wrong.push(`${n} was sent twice`);
    }
    this.#accepted.add(n);
  }
}

interface Surroundings {
  readonly file: string;
  readonly clock: Clock;
  readonly isFull: () => boolean;
  readonly isUp: () => boolean;
  readonly channel: (life: Process) => Channel;
}

const NEVER = new Promise<never>(() => {});

/** Once it is dead, nothing that it had begun goes on: no timer, no write, no answer. */
class Process {
  /** As this process sees it. */
  readonly store: Store;
  readonly clock: Clock;
  readonly dispatcher: OutboxDispatcher;
  readonly ended: Promise<void>;
  isDead = false;
  /** Asked of the platform. */
  sends = 0;
  readonly #watched: RecordedInstruments;
  readonly #opened: Store;
  readonly #end = new AbortController();
  readonly #timers = new Set<() => void>();

  constructor({ file, clock, isFull, isUp, channel }: Surroundings) {
    this.ended = new Promise((resolve) => this.#end.signal.addEventListener("abort", () => resolve()));
    this.#opened = openStore({ file, clock, idempotency: { ttlMs: 300_000, maxKeys: 10 } });
    this.store = this.#ownStore(this.#opened, isFull);
    this.clock = this.#ownClock(clock);
    this.#watched = recordedInstruments(clock);
    this.dispatcher = new OutboxDispatcher({
      store: this.store,
      clock: this.clock,
      log: captureLogger(),
      tracer: this.#watched.tracer,
      publish: () => {},
      openFile: () => Promise.reject(new Error("no files here")),
      spoken: new SpokenAnswers(() => Promise.reject(new Error("no speech here"))),
      random: () => 1,
      settings: { channels: new Map([["chat", channel(this)]]), isUp, maxAttempts: MAX_ATTEMPTS },
    });
  }

  /** What observers were told wrongly, once it has stopped. */
  mistold(): string[] {
    const { recorded, thrown } = this.#watched;
    return [
      ...recorded.open.map(({ kind }) => `a ${kind} without an end`),
      ...thrown.map(String),
      // One that is called off before it is handed over was begun all the same.
      ...(recorded.works.length >= this.sends ? [] : [`${this.sends} sends, ${recorded.works.length} of them told`]),
    ];
  }

  die(): void {
    if (this.isDead) return;
    this.isDead = true;
    for (const cancel of this.#timers) cancel();
    this.#end.abort();
    this.#opened.close();
  }

  /** What it waited for never comes once it is dead. */
  #alive<T>(work: Promise<T>): Promise<T> {
    return work.then(
      (value) => (this.isDead ? NEVER : value),
      (error: unknown) => (this.isDead ? NEVER : Promise.reject(error as Error)),
    );
  }

  #ownStore(store: Store, isFull: () => boolean): Store {
    // What was queued when it was killed is not written.
    const ifAlive = <T>(change: () => T): T => {
      if (this.isDead) throw new Error("killed");
      return change();
    };
    return {
      ...store,
      write: (change) =>
        this.#alive(isFull() ? Promise.reject(new SvcError("STORE_FULL")) : store.write(() => ifAlive(change))),
      writable: () => !this.isDead && !isFull(),
    };
  }

  #ownClock(clock: Clock): Clock {
    const after = (ms: number, run: () => void): (() => void) => {
      if (this.isDead) return () => {};
      const cancel = clock.after(ms, run);
      this.#timers.add(cancel);
      return cancel;
    };
    const both = (signal?: AbortSignal): AbortSignal =>
      AbortSignal.any([this.#end.signal, ...(signal ? [signal] : [])]);
    return {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      after,
      sleep: (ms, signal) => this.#alive(clock.sleep(ms, both(signal))),
    };
  }
}
