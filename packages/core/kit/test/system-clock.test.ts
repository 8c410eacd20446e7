// systemClock: a sleep that is called off ends at once with the caller's reason, and leaves no timer behind.
import { describe, expect, test } from "vitest";
import { systemClock } from "../src/async/system-clock.ts";

describe("systemClock", () => {
  test("tells wall time and a monotonic time that never goes back", () => {
    expect(systemClock.now()).toBeGreaterThan(1_700_000_000_000);
    const first = systemClock.monotonic();
    expect(systemClock.monotonic()).toBeGreaterThanOrEqual(first);
  });

  test("sleeps and wakes", async () => {
    const before = systemClock.monotonic();
    await systemClock.sleep(1);
    expect(systemClock.monotonic() - before).toBeGreaterThanOrEqual(1);
  });

  test("a negative sleep is none", () => expect(systemClock.sleep(-5)).resolves.toBeUndefined());

  test("rejects with the signal's reason, before and during", async () => {
    const reason = new Error("enough");
    await expect(systemClock.sleep(1e9, AbortSignal.abort(reason))).rejects.toBe(reason);
    const controller = new AbortController();
    const sleeping = systemClock.sleep(1e12, controller.signal); // beyond setTimeout's range: must not fire at once
    controller.abort(reason);
    await expect(sleeping).rejects.toBe(reason);
  });

  test("after() calls once, and not at all when cancelled", async () => {
    const calls: string[] = [];
    const cancel = systemClock.after(0, () => calls.push("cancelled"));
    cancel();
    await new Promise<void>((resolve) => {
      systemClock.after(0, () => calls.push("due"));
      systemClock.after(1e12, () => calls.push("beyond setTimeout's range"));
      systemClock.after(2, resolve);
      setTimeout(() => undefined, 50); // after() keeps no process alive by itself
    });
    expect(calls).toEqual(["due"]);
  });
});
