// A list that changes while it is read stays outdated unless it is read once more.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ApiError } from "../src/client/api.ts";
import { Reader } from "../src/state/reader.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function reading() {
  const waiting: PromiseWithResolvers<string>[] = [];
  const reader = new Reader(() => {
    waiting.push(Promise.withResolvers());
    return waiting.at(-1)!.promise;
  });
  return { reader, waiting };
}

test("reads once more what becomes stale during a read", async () => {
  const { reader, waiting } = reading();
  void reader.refresh();
  reader.stale();
  reader.stale();
  waiting[0]!.resolve("before");
  await vi.advanceTimersByTimeAsync(0);
  expect(reader.state.value.data).toBe("before");
  await vi.advanceTimersByTimeAsync(1_000);
  waiting[1]!.resolve("after");
  await vi.advanceTimersByTimeAsync(5_000);
  expect(reader.state.value).toMatchObject({ data: "after", isReading: false });
  expect(waiting).toHaveLength(2);
});

test("joins a burst into one read, and pauses between reads", async () => {
  const { reader, waiting } = reading();
  const done = reader.refresh();
  waiting[0]!.resolve("one");
  await done;
  for (let count = 0; count < 100; count += 1) reader.stale();
  await vi.advanceTimersByTimeAsync(699);
  expect(waiting).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(waiting).toHaveLength(2);
});

test("keeps the last data beside the error of a failed read, and nothing after stop", async () => {
  const { reader, waiting } = reading();
  void reader.refresh();
  waiting[0]!.resolve("kept");
  await vi.advanceTimersByTimeAsync(0);
  void reader.refresh();
  waiting[1]!.reject(new ApiError("STORE_FAILED", "No."));
  await vi.advanceTimersByTimeAsync(0);
  expect(reader.state.value).toMatchObject({ data: "kept", error: { code: "STORE_FAILED" } });
  void reader.refresh();
  reader.stop();
  waiting[2]!.resolve("too late");
  await vi.advanceTimersByTimeAsync(0);
  expect(reader.state.value.data).toBe("kept");
});
