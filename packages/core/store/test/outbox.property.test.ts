// Whatever is done to the outbox in whatever order, and wherever the process is killed: no delivery is lost, and none is
// there twice.
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { OutboxState, Store } from "../src/index.ts";
import { delivery, fixture } from "./fixture.ts";

const LIMITS = { sessionDays: 0, maxSessions: 0, toolCallDays: 1, messageDays: 1 };
const DAY_MS = 86_400_000;

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("add" as const), keys: fc.array(fc.nat({ max: 8 }), { maxLength: 3 }) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom("sent", "retry", "dead", "drop", "reopen" as const),
      which: fc.nat({ max: 30 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("kill", "prune" as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

test("the outbox is what its model is", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      using home = fixture();
      let store = home.open();
      const model = new Model();
      for (const next of steps) {
        await home.clock.advance(DAY_MS / 4);
        const nowMs = home.clock.now();
        if (next.do === "kill") store = home.crash(store);
        if (next.do === "prune") await store.prune(LIMITS, nowMs);
        const real = await take(store, next, model.numberOf(next), nowMs);
        expect(real).toEqual(model.take(next, nowMs));
        expect(viewOf(store)).toEqual(model.view());
      }
      store.close();
    }),
    { numRuns: cases(25) },
  );
});

/** What the step tells; undefined: nothing. */
function take(store: Store, next: Step, n: number, nowMs: number): Promise<unknown> {
  const { outbox } = store;
  return store.write(() => {
    switch (next.do) {
      case "add": {
        const rows = next.keys.map((key) => delivery("a", { key: `${key}` }));
        return outbox.add(rows, nowMs).map((added) => added.n);
      }
      case "sent":
        return outbox.sent(n, `p-${n}`, nowMs);
      case "retry":
        return outbox.retry(n, "DELIVERY_FAILED", nowMs);
      case "dead":
        return outbox.dead(n, "DELIVERY_REFUSED", nowMs);
      case "drop":
        return outbox.drop(n);
      case "reopen":
        return outbox.reopen(n);
      default:
        return undefined;
    }
  });
}

function viewOf({ outbox, inbox }: Store): unknown {
  const rows = outbox.list({}, 1000).toReversed();
  return {
    rows: rows.map(({ n, key, state }) => [n, key, state]),
    waiting: outbox.waiting().map(({ n }) => n),
    sent: inbox.counts().outbox.sent,
  };
}

interface Row {
  readonly n: number;
  readonly key: number;
  state: OutboxState;
  endedAtMs: number;
}

class Model {
  #rows: Row[] = [];
  #last = 0;

  numberOf(next: Step): number {
    return "which" in next ? (this.#rows[next.which % Math.max(1, this.#rows.length)]?.n ?? 0) : 0;
  }

  take(next: Step, nowMs: number): unknown {
    if (next.do === "kill") return undefined;
    if (next.do === "add") return next.keys.map((key) => this.#add(key));
    if (next.do === "prune") {
      this.#rows = this.#rows.filter(
        ({ n, state, endedAtMs }) => n === this.#last || state === "waiting" || endedAtMs >= nowMs - DAY_MS,
      );
      return undefined;
    }
    const row = this.#rows.find(({ n }) => n === this.numberOf(next));
    const isWaiting = row?.state === "waiting";
    if (next.do === "reopen") {
      const isUnwell = row?.state === "dead" || row?.state === "dropped";
      if (isUnwell) row.state = "waiting";
      return isUnwell;
    }
    const states = { sent: "sent", retry: "waiting", dead: "dead", drop: "dropped" } as const;
    if (isWaiting) Object.assign(row!, { state: states[next.do], endedAtMs: nowMs });
    return isWaiting;
  }

  #add(key: number): number {
    const known = this.#rows.find((row) => row.key === key);
    if (known) return known.n;
    this.#rows.push({ n: (this.#last += 1), key, state: "waiting", endedAtMs: 0 });
    return this.#last;
  }

  view(): unknown {
    return {
      rows: this.#rows.map(({ n, key, state }) => [n, `${key}`, state]),
      waiting: this.#rows.filter(({ state }) => state === "waiting").map(({ n }) => n),
      sent: this.#rows.filter(({ state }) => state === "sent").length,
    };
  }
}
