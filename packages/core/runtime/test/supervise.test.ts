// A loop that fails comes back after a growing, jittered wait; one that ends by itself or gives up stays away.
import { SvcError } from "@svc/contract";
import { describe, expect, test } from "vitest";
import type { LifecycleOptions } from "../src/index.ts";
import { settled } from "./fake-clock.ts";
import { feature, lifecycleOf, neverAborted } from "./fake-features.ts";

const channel = { send: () => Promise.resolve({}) };

async function supervised(run: (signal: AbortSignal) => Promise<void>, options: Partial<LifecycleOptions> = {}) {
  const starts: number[] = [];
  const made = lifecycleOf(
    [feature("looping", { channel, run: (signal) => (starts.push(made.clock.monotonic()), run(signal)) })],
    options,
  );
  await made.lifecycle.construct();
  await made.lifecycle.register(neverAborted());
  made.lifecycle.execute();
  await settled();
  const status = () => made.lifecycle.features()[0];
  return { ...made, starts, status };
}

const failing = () => Promise.reject(new Error("connection lost"));

describe("a run that fails", () => {
  test("waits up to 1, 2, 4 … 60 s, by the jitter", async () => {
    const low = await supervised(failing, { random: () => 0.25 });
    await low.clock.advance(250 + 500 + 1000);
    expect(low.starts).toEqual([0, 250, 750, 1750]);

    const high = await supervised(failing, { random: () => 0.999_999 });
    await high.clock.advance(6_999);
    expect(high.starts).toHaveLength(3);
    await high.clock.advance(1);
    expect(high.starts).toHaveLength(4);
    await high.clock.advance(10_000_000);
    const gaps = high.starts.slice(1).map((start, index) => start - (high.starts[index] as number));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(60_000);
    expect(gaps.at(-1)).toBeGreaterThan(59_000);
  });

  test("is told as waiting, with the reason, since when and how often", async () => {
    const { status, clock, lifecycle, lines } = await supervised(failing);
    expect(status()).toEqual({
      id: "looping",
      state: "waiting",
      reason: "connection lost",
      restarts: 0,
      since: clock.now(),
      lastError: { reason: "connection lost", at: clock.now() },
      observerErrors: 0,
    });
    expect(lifecycle.degraded()).toBe(true);
    expect(lines).toMatchObject([{ level: "warn", feature: "looping", reason: "connection lost", waitMs: 500 }]);
    await clock.advance(500);
    expect(status()).toMatchObject({ restarts: 1 });
  });

  test("is told as running again once it lasts longer than the one that failed; after a good minute, at once", async () => {
    let runs = 0;
    const { status, clock } = await supervised(async (signal) => {
      runs += 1;
      if (runs > 1) await clock.sleep(runs === 4 ? 61_000 : 30_000, signal);
      throw new Error("silence");
    });
    await clock.advance(500);
    expect([runs, status()]).toMatchObject([2, { state: "running" }]);
    await clock.advance(30_000 + 1_000 + 29_999);
    expect([runs, status()]).toMatchObject([3, { state: "waiting", reason: "silence" }]);
    await clock.advance(1 + 2_000 + 29_999);
    expect([runs, status()]).toMatchObject([4, { state: "waiting" }]);
    await clock.advance(1);
    expect(status()).toMatchObject({ state: "running" });
    await clock.advance(31_000 + 500);
    expect([runs, status()]).toMatchObject([5, { state: "running" }]);
  });

  test("starts with the short wait again after it ran well for a minute", async () => {
    let runs = 0;
    const { clock, starts } = await supervised(async (signal) => {
      runs += 1;
      if (runs === 4) await clock.sleep(60_000, signal);
      throw new Error("lost");
    });
    await clock.advance(3500);
    expect(starts).toHaveLength(4);
    await clock.advance(60_000);
    await clock.advance(500);
    expect(starts).toHaveLength(5);
  });

  test("honours a longer wish of the server, and no nonsense", async () => {
    const asking = await supervised(
      () => Promise.reject(new SvcError("RATE_LIMITED", "slow", { retryAfterMs: 7_000 })),
      { random: () => 0 },
    );
    await asking.clock.advance(6_999);
    expect(asking.starts).toHaveLength(1);
    await asking.clock.advance(1);
    expect(asking.starts).toHaveLength(2);
    for (const retryAfterMs of [Number.NaN, Number.POSITIVE_INFINITY, -1]) {
      const odd = await supervised(() => Promise.reject(new SvcError("RATE_LIMITED", "slow", { retryAfterMs })));
      await odd.clock.advance(500);
      expect(odd.starts).toHaveLength(2);
    }
  });

  test("by throwing at once, before it returns a promise, is no different", async () => {
    const { status } = await supervised(() => {
      throw new Error("at once");
    });
    expect(status()).toMatchObject({ state: "waiting", reason: "at once" });
  });
});

test("a run that returns ends quietly", async () => {
  const { status, lifecycle, lines, clock, starts } = await supervised(() => Promise.resolve());
  await clock.advance(1_000_000);
  expect([starts.length, lines, lifecycle.degraded()]).toEqual([1, [], false]);
  expect(status()).toMatchObject({ state: "stopped", restarts: 0 });
});

test("a run that throws FEATURE_FAILED gives up", async () => {
  const refused = () => Promise.reject(new SvcError("FEATURE_FAILED", "Refused."));
  const { lifecycle, status, clock, starts } = await supervised(refused);
  await clock.advance(1_000_000);
  expect(starts).toHaveLength(1);
  expect(status()).toMatchObject({ state: "failed", reason: "Refused." });
  // Its channel stays known: who calls it is told that it is down, not that there is none.
  expect([lifecycle.stateOf("looping"), lifecycle.registry.channels.names()]).toEqual(["failed", ["looping"]]);
});

test("shutdown during the wait ends it: no timer stays, no restart comes", async () => {
  const { lifecycle, clock, starts, status } = await supervised(failing);
  await lifecycle.shutdown();
  expect(clock.waiting).toBe(0);
  await clock.advance(1_000_000);
  expect(starts).toHaveLength(1);
  expect(status()).toMatchObject({ state: "stopped", restarts: 0 });
});
