// The limiter and the lockout against plain models: no order of clients and times lets one event too many through, and
// no number of made-up clients fills the memory.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DEFAULT_MAX_KEYS, Lockout, SlidingWindow } from "../src/client.ts";

const steps = fc.array(fc.record({ key: fc.constantFrom("a", "b", "c", "d"), afterMs: fc.nat(400) }), {
  maxLength: 200,
});

describe("sliding window", () => {
  test("agrees with a list of all events ever admitted", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), steps, (limit, events) => {
        const window = new SlidingWindow({ limit, windowMs: 1000, maxKeys: 100 });
        const admitted: { key: string; at: number }[] = [];
        let at = 0;
        for (const { key, afterMs } of events) {
          at += afterMs;
          const inWindow = admitted.filter((one) => one.key === key && at - one.at < 1000);
          const waitMs = window.take(key, at);
          expect(waitMs === 0).toBe(inWindow.length < limit);
          // The wait is exact: it is when the oldest of the events in the window leaves it.
          expect(waitMs).toBe(waitMs === 0 ? 0 : inWindow[0]!.at + 1000 - at);
          if (waitMs === 0) admitted.push({ key, at });
        }
      }),
    );
  });

  test("remembers the most recently active keys and no others", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3 }), steps, (maxKeys, events) => {
        const window = new SlidingWindow({ limit: 2, windowMs: 1000, maxKeys });
        let recent: string[] = [];
        let at = 0;
        for (const { key, afterMs } of events) {
          window.take(key, (at += afterMs));
          recent = [...recent.filter((one) => one !== key), key].slice(-maxKeys);
          expect(window.keys()).toEqual(recent);
        }
      }),
    );
  });

  test("0 admits everything and remembers nothing", () => {
    const window = new SlidingWindow({ limit: 0, windowMs: 1000, maxKeys: 10 });
    for (let count = 0; count < 100; count += 1) expect(window.take("a", 0)).toBe(0);
    expect(window.keys()).toEqual([]);
  });

  test("a client that fills its window for hours holds no more than the window", () => {
    const window = new SlidingWindow({ limit: 3, windowMs: 10, maxKeys: 10 });
    for (let at = 0; at < 10_000; at += 1) window.take("a", at);
    // 3 admitted in any 10 ms; were dead times kept, this would be slow and the array long.
    expect(window.take("a", 10_000 + 10)).toBe(0);
  });
});

describe("lockout", () => {
  const options = { maxFailures: 3, windowMs: 1000, lockoutMs: 5000 };

  test("agrees with a model that keeps every failure", () => {
    fc.assert(
      fc.property(steps, (events) => {
        const lockout = new Lockout(options);
        const failures = new Map<string, number[]>();
        const until = new Map<string, number>();
        let now = 0;
        for (const { key, afterMs } of events) {
          now += afterMs * 5;
          const lockedFor = Math.max(0, (until.get(key) ?? 0) - now);
          expect(lockout.waitMs(key, now)).toBe(lockedFor);
          // As its users do: whoever is locked out does not get to fail again.
          if (lockedFor > 0) continue;
          const recent = [...(failures.get(key) ?? []).filter((at) => now - at < 1000), now];
          const locks = recent.length >= 3;
          expect(lockout.fail(key, now)).toBe(locks);
          failures.set(key, locks ? [] : recent);
          if (locks) until.set(key, now + 5000);
        }
      }),
    );
  });

  test("is bounded however many clients there are", () => {
    const lockout = new Lockout(options);
    for (let client = 0; client < DEFAULT_MAX_KEYS + 500; client += 1) lockout.fail(`client ${client}`, 0);
    expect(lockout.size).toBe(DEFAULT_MAX_KEYS);
  });

  test("success forgets the failures before it", () => {
    const lockout = new Lockout(options);
    lockout.fail("a", 0);
    lockout.fail("a", 0);
    lockout.clear("a");
    expect(lockout.fail("a", 0)).toBe(false);
  });
});
