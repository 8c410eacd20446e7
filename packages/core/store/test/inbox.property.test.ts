// Whatever is done to the inbox in whatever order, and wherever the process is killed: it tells what a simple list would.
import { DEDUPE_MS } from "@svc/contract";
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type Arrival, checkDatabase, type InboxState, type Store } from "../src/index.ts";
import { fixture, type Fixture } from "./fixture.ts";
import { InboxModel, inboxStep, type InboxStep, type Known } from "./inbox-model.ts";

const LIMITS = { sessionDays: 0, maxSessions: 0, toolCallDays: 1, messageDays: 1 };
const STATES = ["waiting", "done", "failed", "dropped"] as const;

test("the inbox is what its model is", async () => {
  const reached = { lost: 0, belowFloor: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(inboxStep, { minLength: 30, maxLength: 60 }), async (steps) => {
      using home = fixture();
      const both = new Both(home);
      for (const step of steps) {
        const { real, model } = await both.take(step);
        expect(real).toEqual(model);
        expect(both.real()).toEqual(both.model());
      }
      expect(await both.close()).toEqual([]);
      reached.lost += both.reached.lost;
      reached.belowFloor += both.reached.belowFloor;
    }),
    { numRuns: cases(20) },
  );
  // Both came up, or the property says nothing of them.
  expect([reached.lost > 0, reached.belowFloor > 0]).toEqual([true, true]);
});

/** What a step told, really and in the model. */
interface Told {
  readonly real: unknown;
  readonly model: unknown;
}
const NOTHING: Told = { real: undefined, model: undefined };

class Both {
  readonly #home: Fixture;
  readonly #model = new InboxModel();
  readonly reached = this.#model.reached;
  #store: Store;

  constructor(home: Fixture) {
    this.#home = home;
    this.#store = home.open();
  }

  async take(step: InboxStep): Promise<Told> {
    const { clock } = this.#home;
    switch (step.do) {
      case "arrive":
        return step.isUndone ? this.#undone(step.arrival) : this.#arrive(step.arrival);
      case "wait":
        await clock.advance(step.ms);
        return NOTHING;
      case "forget":
        await clock.advance(DEDUPE_MS);
        return this.#prune();
      case "prune":
        return this.#prune();
      case "kill":
        return this.#start(this.#home.crash(this.#store));
      case "restart":
        this.#store.close();
        return this.#start(this.#home.open());
      default: {
        const known = this.#model.pick(step.which);
        return known ? this.#of(known, step) : NOTHING;
      }
    }
  }

  async #of(known: Known, step: Extract<InboxStep, { which: number }>): Promise<Told> {
    const { n } = known;
    if (step.do === "end") return this.#end(known, step.state);
    if (step.do !== "die of") {
      const real = await this.#store.write(() => this.#store.inbox[step.do](n, "TURN_FAILED"));
      return { real, model: this.#model.attempt(step.do, known) };
    }
    for (let time = 0; time < step.times; time += 1) {
      await this.#store.write(() => this.#store.inbox.begin(n));
      this.#model.attempt("begin", known);
      this.#start(this.#home.crash(this.#store));
    }
    return NOTHING;
  }

  async #end(known: Known, state: Exclude<InboxState, "waiting">): Promise<Told> {
    const real = await this.#store.write(() => this.#store.inbox.end(known.n, state, "TURN_FAILED"));
    return { real, model: this.#model.end(known, state, this.#home.clock.now()) };
  }

  async #arrive(arrival: Arrival): Promise<Told> {
    const nowMs = this.#home.clock.now();
    const arrived = await this.#store.write(() => this.#store.inbox.arrive(arrival, nowMs));
    const real =
      arrived.state === "replayed"
        ? arrived.state
        : arrived.messages.map((each) => (each === "duplicate" ? each : each.n));
    return { real, model: this.#model.arrive(arrival, nowMs) };
  }

  async #undone(arrival: Arrival): Promise<Told> {
    const write = this.#store.write(() => {
      this.#store.inbox.arrive(arrival, this.#home.clock.now());
      throw new Error("undone");
    });
    return { real: await write.catch(() => "undone"), model: "undone" };
  }

  async #prune(): Promise<Told> {
    const nowMs = this.#home.clock.now();
    const { messages } = await this.#store.prune(LIMITS, nowMs);
    return { real: messages, model: this.#model.prune(nowMs) };
  }

  #start(store: Store): Told {
    this.#store = store;
    this.#model.recover(this.#home.clock.now());
    return NOTHING;
  }

  real(): unknown {
    const { inbox } = this.#store;
    const numbers = (messages: readonly { n: number }[]): number[] => messages.map(({ n }) => n);
    return {
      messages: inbox
        .list({}, 1000)
        .map(({ n, conversationKey, channel, state, attempts, endedAtMs }) => [
          n,
          conversationKey,
          channel,
          state,
          attempts,
          endedAtMs,
        ])
        .toReversed(),
      waiting: numbers(inbox.waiting()),
      lost: numbers(inbox.lost()),
      counts: inbox.counts().inbox,
      lists: STATES.map((state) => numbers(inbox.list({ state }, 1000)).toReversed()),
      ofMail: numbers(inbox.list({ channel: "mail" }, 1000)).toReversed(),
    };
  }

  model(): unknown {
    const { messages } = this.#model;
    const those = (isOne: (known: Known) => boolean): number[] => messages.filter(isOne).map(({ n }) => n);
    const lists = STATES.map((state) => those((known) => known.state === state));
    return {
      messages: messages.map(({ n, conversationKey, channel, state, attempts, endedAtMs }) => {
        return [n, conversationKey, channel, state, attempts, endedAtMs];
      }),
      waiting: lists[0],
      lost: those(({ isUntold }) => isUntold),
      counts: Object.fromEntries(STATES.map((state, index) => [state, lists[index]!.length])),
      lists,
      ofMail: those(({ channel }) => channel === "mail"),
    };
  }

  /** What a check of the database finds. */
  async close(): Promise<readonly string[]> {
    this.#store.close();
    const report = await checkDatabase(this.#home.file, { quick: false, clock: this.#home.clock });
    return report.problems;
  }
}
