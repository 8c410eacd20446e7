// A reader that reconnects must have each event once and in order, or be told that it missed some: never a silent gap, never
// a duplicate, whatever is published, remembered and asked for.
import type { ClientId, SvcEvent } from "@svc/contract";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type StampedEvent, type Subscription, createEventHub } from "../src/index.ts";
import { EventRing, readEventId } from "../src/events/hub.ts";
import { FakeClock } from "./fake-clock.ts";

const clock = new FakeClock();
const delta = (text: string): SvcEvent => ({
  type: "text-delta",
  turnId: "t",
  sessionId: "s",
  conversationId: "c",
  offset: 0,
  owner: "o" as ClientId,
  text,
});

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant("publish" as const), chars: fc.nat({ max: 600 }) }) },
  { weight: 1, arbitrary: fc.constant({ do: "leave" as const }) },
  { weight: 2, arbitrary: fc.constant({ do: "return" as const }) },
);

test("who leaves and returns has no gap that it was not told of, and nothing twice", () => {
  const limits = fc.record({
    maxEvents: fc.integer({ min: 1, max: 12 }),
    maxBytes: fc.integer({ min: 1, max: 30_000 }),
  });
  fc.assert(
    fc.property(limits, fc.array(step, { maxLength: 80 }), (ring, steps) => {
      const hub = createEventHub({ clock, boot: "b", ring });
      const faults: string[] = [];
      let position = 0;
      let subscription: Subscription | undefined;
      const reader = {
        tell({ n }: StampedEvent) {
          if (n !== position + 1) faults.push(`${n} after ${position}`);
          position = n;
        },
        dropped(reason: string) {
          if (reason !== "too-old" || hub.n === position) faults.push(`${reason} at ${position} of ${hub.n}`);
          position = hub.n;
        },
      };
      for (const action of steps) {
        if (action.do === "publish") hub.publish(delta("x".repeat(action.chars)));
        else if (action.do === "leave") subscription = void subscription?.end();
        else subscription ??= hub.subscribe(reader, `b-${position}`);
        if (subscription && position !== hub.n) faults.push(`at ${position} of ${hub.n}`);
      }
      expect(faults).toEqual([]);
    }),
  );
});

test("the ring keeps to its limits and has the newest that fit", () => {
  const limits = fc.record({
    maxEvents: fc.integer({ min: 1, max: 8 }),
    maxBytes: fc.integer({ min: 1, max: 20_000 }),
  });
  fc.assert(
    fc.property(limits, fc.array(fc.nat({ max: 3_000 }), { maxLength: 40 }), (given, sizes) => {
      const ring = new EventRing(given);
      const hub = createEventHub({ clock, boot: "b" });
      for (const chars of sizes) ring.add(hub.publish(delta("x".repeat(chars))));
      const kept = ring.after(0).map(({ n }) => n);
      expect(kept).toEqual(Array.from(kept, (_, index) => sizes.length - kept.length + 1 + index));
      expect(kept.length).toBeLessThanOrEqual(given.maxEvents);
      expect(ring.bytes).toBeLessThanOrEqual(given.maxBytes);
      for (let n = 0; n <= sizes.length; n += 1) expect(ring.has(n)).toBe(sizes.length - n <= kept.length);
    }),
  );
});

test("any text is read as an id or is none, and one that was given out is read as what it is", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const id = readEventId(text);
      expect([undefined, text]).toContain(id && `${id.boot}-${id.n}`);
    }),
  );
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z0-9-]{1,64}$/), fc.nat(), (boot, n) => {
      expect(readEventId(`${boot}-${n}`)).toEqual({ boot, n });
    }),
  );
});
