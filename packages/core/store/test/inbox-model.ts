/** What the inbox does, as a list and a map: the properties hold the real one against it. */
import { DEDUPE_MS } from "@svc/contract";
import * as fc from "fast-check";
import type { Arrival, InboxState, NewMessage } from "../src/index.ts";

const DAY_MS = 86_400_000;

const which = fc.nat({ max: 30 });
const newMessage = fc
  .record({
    key: fc.option(fc.nat({ max: 9 }), { nil: undefined }),
    isNumbered: fc.constantFrom(true, true, false),
    conversationKey: fc.constantFrom("a", "a", "b"),
    kind: fc.constantFrom<NewMessage["kind"]>("message", "message", "message", "reaction", "notice"),
  })
  .map(({ key, isNumbered, conversationKey, kind }): NewMessage => {
    const dedupe = { key: `${key}`, forMs: DEDUPE_MS, ...(isNumbered && key !== undefined && { sequence: key }) };
    return { kind, conversationKey, body: { key: key ?? null }, ...(key !== undefined && { dedupe }) };
  });
const arrival = fc
  .record({
    channel: fc.constantFrom("chat", "chat", "chat", "mail"),
    once: fc.option(fc.nat({ max: 9 }), { nil: undefined, freq: 1 }),
    messages: fc.array(newMessage, { minLength: 1, maxLength: 5 }),
  })
  .map(({ once, ...rest }): Arrival => ({ ...rest, ...(once !== undefined && { once: `${once}` }) }));

export const inboxStep = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("arrive" as const),
      arrival,
      isUndone: fc.constantFrom(true, false, false, false),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constantFrom("begin", "calledOff", "failed", "reopen", "notified" as const), which }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("end" as const),
      which,
      state: fc.constantFrom("done", "failed", "dropped" as const),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom("kill", "restart", "prune", "forget" as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("die of" as const), which, times: fc.integer({ min: 1, max: 5 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.constantFrom(1000, DAY_MS, DEDUPE_MS / 2) }),
  },
);
export type InboxStep = typeof inboxStep extends fc.Arbitrary<infer Value> ? Value : never;

export interface Known {
  readonly n: number;
  readonly conversationKey: string;
  readonly channel: string;
  state: InboxState;
  attempts: number;
  crashes: number;
  isBegun: boolean;
  isUntold: boolean;
  endedAtMs: number | undefined;
}

const FRESH = { attempts: 0, crashes: 0, isBegun: false, isUntold: false };

/** Raises the floor of its place when its time is over, whatever becomes of the id that brought it. */
interface Numbered {
  readonly untilMs: number;
  readonly place: string;
  readonly sequence: number;
}

export class InboxModel {
  /** How often what the properties are there for came up. */
  readonly reached = { lost: 0, belowFloor: 0 };
  #messages: Known[] = [];
  #last = 0;
  /** Until when each id is known. */
  readonly #ids = new Map<string, number>();
  #numbers: Numbered[] = [];
  readonly #floors = new Map<string, number>();

  /** By the number that a step brings; undefined when there is none. */
  pick(number: number): Known | undefined {
    return this.#messages[number % Math.max(1, this.#messages.length)];
  }

  /** The numbers of what is kept, as `arrive` tells them. */
  arrive({ channel, once, messages }: Arrival, nowMs: number): "replayed" | (number | "duplicate")[] {
    if (once !== undefined && !this.#remember(`once ${channel} ${once}`, nowMs)) return "replayed";
    return messages.map((each) => (this.#isNew(channel, each, nowMs) ? this.#keep(channel, each, nowMs) : "duplicate"));
  }

  #isNew(channel: string, { conversationKey, dedupe }: NewMessage, nowMs: number): boolean {
    if (dedupe === undefined) return true;
    const id = `id ${channel} ${dedupe.key}`;
    const { sequence } = dedupe;
    if (sequence === undefined) return this.#remember(id, nowMs);
    const place = `${channel} ${conversationKey}`;
    const isBelow = sequence <= (this.#floors.get(place) ?? -1);
    if (isBelow && !this.#ids.has(id)) this.reached.belowFloor += 1;
    if (isBelow || this.#ids.has(id)) return false;
    this.#ids.set(id, nowMs + DEDUPE_MS);
    this.#numbers.push({ untilMs: nowMs + DEDUPE_MS, place, sequence });
    return true;
  }

  #remember(id: string, nowMs: number): boolean {
    if (nowMs < (this.#ids.get(id) ?? nowMs)) return false;
    this.#ids.set(id, nowMs + DEDUPE_MS);
    return true;
  }

  #keep(channel: string, { conversationKey, kind }: NewMessage, nowMs: number): number {
    const n = (this.#last += 1);
    const isDone = kind === "reaction";
    const state = isDone ? "done" : "waiting";
    const endedAtMs = isDone ? nowMs : undefined;
    this.#messages.push({ n, conversationKey, channel, state, endedAtMs, ...FRESH });
    return n;
  }

  /** As the method of this name tells it; undefined: it tells nothing. */
  attempt(what: "begin" | "calledOff" | "failed" | "reopen" | "notified", known: Known): boolean | undefined {
    const isWaiting = known.state === "waiting";
    if (what === "begin") known.isBegun = isWaiting;
    if (what === "calledOff") known.isBegun = false;
    if (what === "notified" || what === "reopen") known.isUntold = false;
    if (what === "failed" && isWaiting) Object.assign(known, { isBegun: false, attempts: known.attempts + 1 });
    if (what === "failed") return isWaiting;
    if (what !== "reopen") return undefined;
    const mayWait = known.state === "failed" || known.state === "dropped";
    if (mayWait) Object.assign(known, { state: "waiting", attempts: 0, crashes: 0, endedAtMs: undefined });
    return mayWait;
  }

  end(known: Known, state: InboxState, nowMs: number): boolean {
    if (known.state !== "waiting") return false;
    const attempts = known.attempts + (state === "failed" ? 1 : 0);
    Object.assign(known, { state, attempts, isBegun: false, endedAtMs: nowMs });
    return true;
  }

  /** A start: nobody called the attempts off that ran. */
  recover(nowMs: number): void {
    for (const known of this.#messages.filter(({ isBegun }) => isBegun)) {
      Object.assign(known, { attempts: known.attempts + 1, crashes: known.crashes + 1, isBegun: false });
      if (known.crashes < 5) continue;
      this.reached.lost += 1;
      Object.assign(known, { state: "failed", endedAtMs: nowMs, isUntold: true });
    }
  }

  /** How many messages go. */
  prune(nowMs: number): number {
    const before = this.#messages.length;
    this.#messages = this.#messages.filter(
      ({ n, endedAtMs }) => n === this.#last || endedAtMs === undefined || endedAtMs >= nowMs - DAY_MS,
    );
    for (const { untilMs, place, sequence } of this.#numbers) {
      if (untilMs <= nowMs) this.#floors.set(place, Math.max(sequence, this.#floors.get(place) ?? -1));
    }
    this.#numbers = this.#numbers.filter(({ untilMs }) => untilMs > nowMs);
    for (const [id, untilMs] of this.#ids) if (untilMs <= nowMs) this.#ids.delete(id);
    return before - this.#messages.length;
  }

  get messages(): readonly Known[] {
    return this.#messages;
  }
}
