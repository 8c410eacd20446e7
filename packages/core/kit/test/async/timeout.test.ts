// Work that hangs must not hold up a start, a shutdown or a reply for longer than its limit; work that is stopped must not go on unseen.
import { getEventListeners } from "node:events";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { keepingAlive, unlessAborted, withDeadline, withTimeout } from "../../src/async/index.ts";

/** Its timers fire when the test says so. */
function stoppedClock() {
  const timers = new Set<() => void>();
  const after = (_delayMs: number, run: () => void): (() => void) => {
    timers.add(run);
    return () => timers.delete(run);
  };
  const pass = (): void => {
    for (const run of timers) {
      timers.delete(run);
      run();
    }
  };
  return { pass, waiting: () => timers.size, clock: { after } };
}

const hangs = (): Promise<never> => new Promise(() => undefined);
const error = (): Error => new Error("too late");
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const listenersOf = (caller: AbortController): number => getEventListeners(caller.signal, "abort").length;

describe.each([
  ["withTimeout", withTimeout],
  ["withDeadline", withDeadline],
])("%s", (_, limited) => {
  test("resolves with the work's result and leaves no timer and no listener behind", async () => {
    const { clock, waiting } = stoppedClock();
    const caller = new AbortController();
    expect(await limited({ clock, timeoutMs: 1, error, signal: caller.signal }, () => "done")).toBe("done");
    expect([waiting(), listenersOf(caller)]).toEqual([0, 0]);
  });

  test("aborts the work when the time is up, and rejects with the same error", async () => {
    const { clock, pass, waiting } = stoppedClock();
    let given: AbortSignal | undefined;
    const outcome = limited({ clock, timeoutMs: 1, error }, (signal) => {
      given = signal;
      return unlessAborted(hangs, signal);
    });
    pass();
    await expect(outcome).rejects.toThrow("too late");
    expect((given!.reason as Error).message).toBe("too late");
    expect(waiting()).toBe(0);
  });

  test("rejects with the caller's reason, and does not begin work that was called off before", async () => {
    const { clock, waiting } = stoppedClock();
    const caller = new AbortController();
    const options = { clock, timeoutMs: 1, error, signal: caller.signal };
    const outcome = limited(options, (signal) => unlessAborted(hangs, signal));
    caller.abort(new Error("called off"));
    await expect(outcome).rejects.toThrow("called off");
    let hasBegun = false;
    await expect(limited(options, () => (hasBegun = true))).rejects.toThrow("called off");
    expect([hasBegun, waiting(), listenersOf(caller)]).toEqual([false, 0, 0]);
  });

  test("rejects with the first reason when the time is up and the caller gives up at once", async () => {
    const { clock, pass } = stoppedClock();
    const caller = new AbortController();
    const outcome = limited({ clock, timeoutMs: 1, error, signal: caller.signal }, (signal) =>
      unlessAborted(hangs, signal),
    );
    pass();
    caller.abort(new Error("called off"));
    await expect(outcome).rejects.toThrow("too late");
  });

  test("turns what the work throws at once into a rejection", async () => {
    const { clock, waiting } = stoppedClock();
    const work = (): never => {
      throw new Error("broken");
    };
    await expect(limited({ clock, timeoutMs: 1, error }, work)).rejects.toThrow("broken");
    expect(waiting()).toBe(0);
  });
});

test("withTimeout abandons work that ignores its signal, and its late failure goes nowhere", async () => {
  const { clock, pass } = stoppedClock();
  const end = Promise.withResolvers<never>();
  const outcome = withTimeout({ clock, timeoutMs: 1, error }, () => end.promise);
  pass();
  await expect(outcome).rejects.toThrow("too late");
  const unhandled: unknown[] = [];
  const onUnhandled = (reason: unknown): void => void unhandled.push(reason);
  process.on("unhandledRejection", onUnhandled);
  end.reject(new Error("later"));
  await settled();
  process.off("unhandledRejection", onUnhandled);
  expect(unhandled).toEqual([]);
});

test("withDeadline waits until the work has stopped", async () => {
  const { clock, pass } = stoppedClock();
  const end = Promise.withResolvers<void>();
  const log: string[] = [];
  const outcome = withDeadline({ clock, timeoutMs: 1, error }, async () => {
    await end.promise;
    log.push("the work has stopped");
    throw new Error("the socket is closed");
  }).catch((reason: Error) => log.push(reason.message));
  pass();
  await settled();
  expect(log).toEqual([]);
  end.resolve();
  await outcome;
  expect(log).toEqual(["the work has stopped", "too late"]);
});

test("withDeadline takes a result that comes late", async () => {
  const { clock, pass } = stoppedClock();
  const end = Promise.withResolvers<string>();
  const outcome = withDeadline({ clock, timeoutMs: 1, error }, () => end.promise);
  pass();
  end.resolve("late");
  expect(await outcome).toBe("late");
});

test("a timer that keeps the process alive is a sleep, and ends with what it limits", async () => {
  let sleeping = 0;
  const passing = Promise.withResolvers<void>();
  const sleep = (_ms: number, signal?: AbortSignal): Promise<void> => {
    sleeping += 1;
    return unlessAborted(passing.promise, signal!).finally(() => (sleeping -= 1));
  };
  const clock = keepingAlive({ sleep });
  expect(await withTimeout({ clock, timeoutMs: 1, error }, () => "done")).toBe("done");
  await settled();
  expect(sleeping).toBe(0);
  const outcome = withTimeout({ clock, timeoutMs: 1, error }, hangs);
  expect(sleeping).toBe(1);
  passing.resolve();
  await expect(outcome).rejects.toThrow("too late");
  expect(sleeping).toBe(0);
});

type Event = "time" | "caller" | "result" | "failure";

test("whatever happens in whichever order, the first decides, and nothing is left behind", async () => {
  const orders = fc.shuffledSubarray<Event>(["time", "caller", "result", "failure"], { minLength: 1 });
  await fc.assert(
    fc.asyncProperty(orders, fc.boolean(), fc.boolean(), async (events, waits, heeds) => {
      const { clock, pass, waiting } = stoppedClock();
      const caller = new AbortController();
      const end = Promise.withResolvers<string>();
      const happens: Record<Event, () => void> = {
        time: pass,
        caller: () => caller.abort(new Error("called off")),
        result: () => end.resolve("done"),
        failure: () => end.reject(new Error("broken")),
      };
      const work = (signal: AbortSignal): Promise<string> => (heeds ? unlessAborted(end.promise, signal) : end.promise);
      const options = { clock, timeoutMs: 1, error, signal: caller.signal };
      let outcome: string | undefined;
      const over = (waits ? withDeadline : withTimeout)(options, work).then(
        (result) => (outcome = result),
        (reason: Error) => (outcome = reason.message),
      );
      end.promise.catch(() => undefined);
      for (const event of events) {
        happens[event]();
        await settled();
      }
      const ends = events.find((event) => event === "result" || event === "failure");
      const abort = events.find((event) => event === "time" || event === "caller");
      const isAborted = abort !== undefined && (ends === undefined || events.indexOf(abort) < events.indexOf(ends));
      const reason = abort === "time" ? "too late" : "called off";
      const own = { result: "done", failure: isAborted ? reason : "broken", none: undefined }[ends ?? "none"];
      // Work that heeds its signal ends with the abort, and so does the wait for work that is abandoned.
      expect(outcome).toBe(isAborted && (heeds || !waits) ? reason : own);
      end.resolve("the test is over");
      await over;
      expect([waiting(), listenersOf(caller)]).toEqual([0, 0]);
    }),
  );
});
