// Whatever is done to the boxes in whatever order, and wherever the process is killed: what they tell is what a simple
// list would tell.
import { DEDUPE_MS } from "@svc/contract";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { checkDatabase, type InboxState, type NewMessage, type Store } from "../src/index.ts";
import { delivery, house, type House, message } from "./house.ts";

const LIMITS = { sessionDays: 0, maxSessions: 0, toolCallDays: 1, messageDays: 1 };
const DAY = 86_400_000;

const which = fc.nat({ max: 30 });
const newMessage = fc.record({
  key: fc.option(fc.nat({ max: 9 }), { nil: undefined }),
  sequence: fc.constantFrom(true, true, false),
  lane: fc.constantFrom("a", "a", "b"),
  kind: fc.constantFrom<NewMessage["kind"]>("message", "message", "message", "reaction", "notice"),
});
const arrival = fc.record({
  do: fc.constant("arrive"),
  channel: fc.constantFrom("chat", "chat", "chat", "mail"),
  once: fc.option(fc.nat({ max: 9 }), { nil: undefined, freq: 1 }),
  messages: fc.array(newMessage, { minLength: 1, maxLength: 5 }),
  isUndone: fc.constantFrom(true, false, false, false),
});
const step = fc.oneof(
  { weight: 6, arbitrary: arrival },
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom("begin", "calledOff", "failed", "reopen", "told"), which }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("end"), which, state: fc.constantFrom("done", "failed", "dropped") }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom("kill", "restart", "prune", "forget", "forget") }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("die of"), which, times: fc.integer({ min: 1, max: 5 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("wait"), ms: fc.constantFrom(1000, DAY, DEDUPE_MS / 2, DEDUPE_MS) }),
  },
);
type Arrive = typeof arrival extends fc.Arbitrary<infer Value> ? Value : never;
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

test("the inbox is what its model is", async () => {
  let lost = 0;
  let below = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 30, maxLength: 60 }), async (steps) => {
      using home = house();
      const world = new World(home);
      for (const next of steps) {
        await world.take(next as Step);
        world.compare();
      }
      lost += world.lostOnes;
      below += world.belowFloor;
      await world.end();
    }),
    { numRuns: 20 },
  );
  // Both were reached, or the property says nothing of them.
  expect([lost > 0, below > 0]).toEqual([true, true]);
}, 120_000);

interface Known {
  readonly n: number;
  readonly lane: string;
  readonly channel: string;
  state: InboxState;
  attempts: number;
  crashes: number;
  isBegun: boolean;
  isUntold: boolean;
  endedAtMs: number | undefined;
}

class World {
  lostOnes = 0;
  belowFloor = 0;
  readonly #home: House;
  #store: Store;
  #messages: Known[] = [];
  #last = 0;
  #ids = new Map<string, { untilMs: number; floorOf?: { place: string; sequence: number } }>();
  readonly #floors = new Map<string, number>();

  constructor(home: House) {
    this.#home = home;
    this.#store = home.open();
  }

  async take(next: Step): Promise<void> {
    const store = this.#store;
    if (next.do === "arrive") return this.#arrive(next as Arrive);
    if (next.do === "wait") return this.#home.clock.advance((next as { ms: number }).ms);
    if (next.do === "kill") return this.#kill();
    if (next.do === "restart") return this.#restart();
    if (next.do === "prune") return this.#prune();
    if (next.do === "forget") {
      await this.#home.clock.advance(DEDUPE_MS);
      return this.#prune();
    }
    const known = this.#messages[(next as { which: number }).which % Math.max(1, this.#messages.length)];
    if (known === undefined) return;
    if (next.do === "die of") {
      for (let { times } = next as { times: number }; times > 0; times -= 1) {
        await this.#attempt("begin", known);
        this.#kill();
      }
      return;
    }
    const { n } = known;
    if (next.do === "end") {
      const { state } = next as { state: Exclude<InboxState, "waiting"> };
      const isEnded = await store.write(() => store.inbox.end(n, state, "TURN_FAILED"));
      expect(isEnded).toBe(known.state === "waiting");
      if (isEnded) this.#end(known, state, state === "failed" ? 1 : 0);
      return;
    }
    await this.#attempt(next.do, known);
  }

  async #attempt(what: string, known: Known): Promise<void> {
    const { inbox } = this.#store;
    const isWaiting = known.state === "waiting";
    const { n } = known;
    if (what === "begin") {
      await this.#store.write(() => inbox.begin(n));
      if (isWaiting) known.isBegun = true;
    } else if (what === "calledOff") {
      await this.#store.write(() => inbox.calledOff(n));
      known.isBegun = false;
    } else if (what === "failed") {
      expect(await this.#store.write(() => inbox.failed(n, "TURN_FAILED"))).toBe(isWaiting);
      if (isWaiting) Object.assign(known, { isBegun: false, attempts: known.attempts + 1 });
    } else if (what === "told") {
      await this.#store.write(() => inbox.told(n));
      known.isUntold = false;
    } else {
      const mayWait = known.state === "failed" || known.state === "dropped";
      expect(await this.#store.write(() => inbox.reopen(n))).toBe(mayWait);
      const again = { state: "waiting", attempts: 0, crashes: 0, isBegun: false, endedAtMs: undefined };
      known.isUntold = false;
      if (mayWait) Object.assign(known, again);
    }
  }

  #end(known: Known, state: InboxState, attempts: number): void {
    const endedAtMs = this.#home.clock.now();
    Object.assign(known, { state, endedAtMs, isBegun: false, attempts: known.attempts + attempts });
  }

  async #arrive({ channel, once, messages, isUndone }: Arrive): Promise<void> {
    const nowMs = this.#home.clock.now();
    const made = messages.map(({ key, sequence, lane, kind }) => {
      if (key === undefined) return message(lane, undefined, { kind });
      const dedupe = { key: `${key}`, forMs: DEDUPE_MS, ...(sequence && { sequence: key }) };
      return message(lane, undefined, { kind, dedupe });
    });
    const arrived = this.#store.write(() => {
      const value = { channel, messages: made, ...(once !== undefined && { once: `${once}` }) };
      const result = this.#store.inbox.arrive(value, nowMs);
      if (isUndone) throw new Error("undone");
      return result;
    });
    if (isUndone) return void (await expect(arrived).rejects.toMatchObject({ code: "STORE_FAILED" }));
    if (once !== undefined && !this.#remember(`once ${channel} ${once}`, nowMs)) {
      expect(await arrived).toEqual({ state: "replayed" });
      return;
    }
    const expected = made.map((each) =>
      this.#isNew(channel, each, nowMs) ? this.#keep(channel, each, nowMs) : "duplicate",
    );
    expect(await arrived).toMatchObject({ state: "kept", messages: expected });
  }

  #isNew(channel: string, { lane, dedupe }: NewMessage, nowMs: number): boolean {
    if (dedupe === undefined) return true;
    const id = `id ${channel} ${dedupe.key}`;
    const { sequence } = dedupe;
    if (sequence === undefined) return this.#remember(id, nowMs);
    const place = `${channel} ${lane}`;
    const isBelow = sequence <= (this.#floors.get(place) ?? -1);
    if (isBelow && !this.#ids.has(id)) this.belowFloor += 1;
    if (isBelow || this.#ids.has(id)) return false;
    this.#ids.set(id, { untilMs: nowMs + DEDUPE_MS, floorOf: { place, sequence } });
    return true;
  }

  #remember(id: string, nowMs: number): boolean {
    const known = this.#ids.get(id);
    if (known && nowMs < known.untilMs) return false;
    this.#ids.set(id, { ...known, untilMs: nowMs + DEDUPE_MS });
    return true;
  }

  #keep(channel: string, { lane, kind }: NewMessage, nowMs: number): { n: number } {
    const n = (this.#last += 1);
    const fresh = { n, lane, channel, attempts: 0, crashes: 0, isBegun: false, isUntold: false };
    if (kind === "reaction") this.#messages.push({ ...fresh, state: "done", endedAtMs: nowMs });
    else this.#messages.push({ ...fresh, state: "waiting", endedAtMs: undefined });
    return { n };
  }

  #kill(): void {
    this.#store = this.#home.crash(this.#store);
    this.#recovered();
  }

  #restart(): void {
    this.#store.close();
    this.#store = this.#home.open();
    this.#recovered();
  }

  /** Nobody called the attempts off, so both ways count. */
  #recovered(): void {
    for (const known of this.#messages.filter(({ isBegun }) => isBegun)) {
      Object.assign(known, { attempts: known.attempts + 1, crashes: known.crashes + 1, isBegun: false });
      if (known.crashes < 5) continue;
      this.lostOnes += 1;
      known.isUntold = true;
      this.#end(known, "failed", 0);
    }
  }

  async #prune(): Promise<void> {
    const nowMs = this.#home.clock.now();
    const gone = await this.#store.prune(LIMITS, nowMs);
    const stays = ({ n, endedAtMs }: Known): boolean =>
      n === this.#last || endedAtMs === undefined || endedAtMs >= nowMs - DAY;
    expect(gone.messages).toBe(this.#messages.filter((known) => !stays(known)).length);
    this.#messages = this.#messages.filter(stays);
    for (const [id, { untilMs, floorOf }] of this.#ids) {
      if (untilMs > nowMs) continue;
      this.#ids.delete(id);
      if (floorOf) this.#floors.set(floorOf.place, Math.max(floorOf.sequence, this.#floors.get(floorOf.place) ?? -1));
    }
  }

  compare(): void {
    const { inbox } = this.#store;
    const told = this.#messages.map(({ n, lane, channel, state, attempts, endedAtMs }) => ({
      ...{ n, lane, channel, state, attempts, endedAtMs },
    }));
    expect(inbox.list({}, 1000).toReversed()).toMatchObject(told);
    for (const state of ["waiting", "done", "failed", "dropped"] as const) {
      const numbers = told.filter((each) => each.state === state).map(({ n }) => n);
      expect(
        inbox
          .list({ state }, 1000)
          .map(({ n }) => n)
          .toReversed(),
      ).toEqual(numbers);
      expect(inbox.counts().inbox[state]).toBe(numbers.length);
      if (state === "waiting") expect(inbox.waiting().map(({ n }) => n)).toEqual(numbers);
    }
    const untold = this.#messages.filter(({ isUntold }) => isUntold).map(({ n }) => n);
    expect(inbox.lost().map(({ n }) => n)).toEqual(untold);
  }

  async end(): Promise<void> {
    this.#store.close();
    const report = await checkDatabase(this.#home.file, { quick: false, clock: this.#home.clock });
    expect(report.problems).toEqual([]);
  }
}

const sends = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("add"), keys: fc.array(fc.nat({ max: 8 }), { maxLength: 3 }) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom("sent", "retry", "dead", "drop", "reopen"), which }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("kill", "prune") }) },
);

test("no delivery is lost, and none is there twice", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(sends, { minLength: 5, maxLength: 40 }), async (steps) => {
      using home = house();
      let store = home.open();
      const states = new Map<number, string>();
      const keys = new Map<number, number>();
      for (const next of steps) {
        await home.clock.advance(DAY / 4);
        const nowMs = home.clock.now();
        if (next.do === "kill") store = home.crash(store);
        else if (next.do === "prune") {
          await store.prune(LIMITS, nowMs);
          const left = new Set(store.outbox.list({}, 1000).map(({ n }) => n));
          for (const [n, state] of states) {
            if (left.has(n)) continue;
            expect(state).not.toBe("waiting");
            states.delete(n);
            for (const [key, of] of keys) if (of === n) keys.delete(key);
          }
        } else if ("keys" in next) {
          const rows = next.keys.map((key) => delivery("a", { key: `${key}` }));
          const added = await store.write(() => store.outbox.add(rows, nowMs));
          for (const [index, key] of next.keys.entries()) {
            const { n } = added[index]!;
            if (keys.has(key)) expect(n).toBe(keys.get(key));
            else expect(states.has(n)).toBe(false);
            keys.set(key, n);
            if (!states.has(n)) states.set(n, "waiting");
          }
        } else {
          const n = [...states.keys()][next.which % Math.max(1, states.size)];
          if (n === undefined) continue;
          const { outbox } = store;
          const isWaiting = states.get(n) === "waiting";
          const does = {
            sent: () => outbox.sent(n, `p-${n}`, nowMs),
            retry: () => outbox.retry(n, "DELIVERY_FAILED", nowMs),
            dead: () => outbox.dead(n, "DELIVERY_REFUSED", nowMs),
            drop: () => outbox.drop(n),
            reopen: () => outbox.reopen(n),
          };
          const isDone = await store.write(does[next.do as keyof typeof does]);
          expect(isDone).toBe(next.do === "reopen" ? ["dead", "dropped"].includes(states.get(n)!) : isWaiting);
          const after = { sent: "sent", retry: "waiting", dead: "dead", drop: "dropped", reopen: "waiting" };
          if (isDone) states.set(n, after[next.do as keyof typeof after]);
        }
        const told = new Map(store.outbox.list({}, 1000).map(({ n, state }) => [n, state]));
        expect(Object.fromEntries(told)).toEqual(Object.fromEntries(states));
        const waiting = [...states].filter(([, state]) => state === "waiting").map(([n]) => n);
        expect(store.outbox.waiting().map(({ n }) => n)).toEqual(waiting.toSorted((one, other) => one - other));
      }
      store.close();
    }),
    { numRuns: 40 },
  );
}, 60_000);
