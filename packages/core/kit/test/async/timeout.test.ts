// Work that hangs must not hold up a start, a shutdown or a reply for longer than its limit.
import { expect, test } from "vitest";
import { unlessAborted, withTimeout } from "../../src/async/index.ts";

/** Sleeps until the test lets the time pass, or until the signal. */
function stoppedClock() {
  const passing = Promise.withResolvers<void>();
  let sleeping = 0;
  const sleep = async (_ms: number, signal?: AbortSignal): Promise<void> => {
    sleeping += 1;
    await unlessAborted(passing.promise, signal!).finally(() => (sleeping -= 1));
  };
  return { pass: () => passing.resolve(), sleeping: () => sleeping, clock: { sleep } };
}

const hangs = (): Promise<never> => new Promise(() => undefined);
const error = (): Error => new Error("too late");

test("resolves with the work's result and leaves no timer behind", async () => {
  const { clock, sleeping } = stoppedClock();
  expect(await withTimeout({ clock, timeoutMs: 1, error }, () => "done")).toBe("done");
  expect(sleeping()).toBe(0);
});

test("rejects when the time is up, and aborts the work with the same error", async () => {
  const { clock, pass, sleeping } = stoppedClock();
  let given: AbortSignal | undefined;
  const limited = withTimeout({ clock, timeoutMs: 1, error }, (signal) => {
    given = signal;
    return hangs();
  });
  pass();
  await expect(limited).rejects.toThrow("too late");
  expect((given!.reason as Error).message).toBe("too late");
  expect(sleeping()).toBe(0);
});

test("rejects with the caller's reason, and leaves no timer behind", async () => {
  const { clock, sleeping } = stoppedClock();
  const caller = new AbortController();
  const limited = withTimeout({ clock, timeoutMs: 1, error, signal: caller.signal }, hangs);
  caller.abort(new Error("called off"));
  await expect(limited).rejects.toThrow("called off");
  expect(sleeping()).toBe(0);
  await expect(withTimeout({ clock, timeoutMs: 1, error, signal: caller.signal }, hangs)).rejects.toThrow("called off");
});

test("turns what the work throws at once into a rejection", async () => {
  const { clock } = stoppedClock();
  const work = (): never => {
    throw new Error("broken");
  };
  await expect(withTimeout({ clock, timeoutMs: 1, error }, work)).rejects.toThrow("broken");
});
