// A harness whose plan is not what its seed says can't be run again; one whose labels repeat judges nonsense.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { askedIn, conversationIn, labelIn, textOf, type Writer } from "../src/plan/messages.ts";
import { planOf } from "../src/plan/plan.ts";

const WRITERS: readonly Writer[] = [
  { channel: "one", letter: "a", batch: 3 },
  { channel: "two", letter: "b", batch: 1 },
];
const options = fc.record({
  seed: fc.nat(),
  deliveries: fc.integer({ min: 1, max: 400 }),
  kills: fc.integer({ min: 0, max: 40 }),
  writers: fc.constant(WRITERS),
});

describe("a plan", () => {
  test("is the same for the same seed", () => {
    fc.assert(
      fc.property(options, (one) => {
        expect(planOf(one)).toEqual(planOf(one));
      }),
    );
  });

  test("has as many deliveries as asked for, each posted, and no label twice", () => {
    fc.assert(
      fc.property(options, (one) => {
        const { deliveries, posts } = planOf(one);
        expect(deliveries).toHaveLength(one.deliveries);
        expect(new Set(posts)).toEqual(new Set(deliveries));
        const labels = deliveries.flatMap(({ messages }) => messages.map(({ label }) => label));
        expect(new Set(labels).size).toBe(labels.length);
      }),
    );
  });

  test("kills as often as asked for, and lets all posts go before the last one", () => {
    fc.assert(
      fc.property(options, (one) => {
        const { kills, posts } = planOf(one);
        expect(kills).toHaveLength(one.kills);
        const released = kills.map((kill) => kill.released);
        expect(released).toEqual(released.toSorted((a, b) => a - b));
        expect(released.at(-1) ?? posts.length).toBe(posts.length);
        expect(kills[0]?.at).not.toBe("start");
      }),
    );
  });

  test("is read back from what a person writes", () => {
    const { deliveries } = planOf({ seed: 1, deliveries: 200, kills: 0, writers: WRITERS });
    for (const message of deliveries.flatMap(({ messages }) => messages)) {
      const { kind, label, conversation } = message;
      expect(askedIn(`Ann: ${textOf(message)}`)).toEqual({ kind, label });
      expect(labelIn(textOf(message))).toBe(label);
      expect(conversationIn(label)).toBe(conversation);
    }
  });
});
