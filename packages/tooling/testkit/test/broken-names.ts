/** Runs a suite against a fake and tells which of its checks failed. Hanging fakes cost no time: the clock is faked. */
import { vi } from "vitest";
import { failures, PROMPT_MS, type Check } from "../src/check.ts";

export async function brokenRules(checks: readonly Check[]): Promise<string[]> {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const state = { done: false };
    const running = failures(checks).finally(() => (state.done = true));
    while (!state.done) await vi.advanceTimersByTimeAsync(PROMPT_MS);
    return (await running).map(({ name }) => name);
  } finally {
    vi.useRealTimers();
  }
}
