// A log of CI once held ten thousand frames of a spinner; a terminal once showed nothing for two minutes.
import { describe, expect, test } from "vitest";
import { BootstrapError, progressOn } from "../progress.mjs";

function recorder(isTTY: boolean) {
  const out = { isTTY, columns: 60, text: "", write: (text: string) => void (out.text += text) };
  const time = { nowMs: 0 };
  const timers = new Set<{ ms: number; work: () => void }>();
  const clock = {
    nowMs: () => time.nowMs,
    every(ms: number, work: () => void) {
      const timer = { ms, work };
      timers.add(timer);
      return { stop: () => void timers.delete(timer) };
    },
  };
  const passes = (ms: number) => {
    for (const end = time.nowMs + ms; time.nowMs < end;) {
      time.nowMs += 100;
      for (const timer of timers) if (time.nowMs % timer.ms === 0) timer.work();
    }
  };
  return { out, time, clock, passes, timers };
}

describe("progress", () => {
  test("in a log: one plain line at the start and one at the end of a step", async () => {
    const { out, time, clock } = recorder(false);
    const result = await progressOn(out, {}, clock).step("packages", async ({ note }) => {
      note("fetching");
      time.nowMs += 1_500;
      return 7;
    });
    expect(result).toBe(7);
    expect(out.text).toBe("packages ...\npackages: done (1.5 s)\n");
  });

  test("in a log: a step of some minutes prints a line a minute, also while nothing happens", async () => {
    const { out, clock, passes, timers } = recorder(false);
    await progressOn(out, {}, clock).step("tests", async ({ note }) => {
      passes(30_000);
      note("1 test done\n");
      passes(20_000);
      note("2 tests done\n");
      passes(75_000);
    });
    expect(out.text).toBe("tests ...\n  60.0 s: 2 tests done\n  120.0 s: 2 tests done\ntests: done (125.0 s)\n");
    expect(timers.size).toBe(0);
  });

  test("on a terminal: one line that is redrawn and ends with the result", async () => {
    const { out, time, clock } = recorder(true);
    await progressOn(out, { TERM: "xterm", NO_COLOR: "1" }, clock).step(
      "build",
      async () => void (time.nowMs += 1_500),
      () => ({ ok: true, text: "up to date" }),
    );
    expect(out.text).toBe("\r\u001b[2K✓ build: up to date  1.5 s\n");
  });

  test("CI and a dumb terminal get plain lines", async () => {
    for (const env of [{ CI: "true" }, { TERM: "dumb" }]) {
      const { out, clock } = recorder(true);
      await progressOn(out, env, clock).step("build", async () => 0);
      expect(out.text).not.toContain("\u001b");
    }
  });

  test("a step that throws is shown as failed, and the error passes through", async () => {
    const { out, time, clock } = recorder(false);
    const step = progressOn(out, {}, clock).step("build", async () => {
      time.nowMs += 1_500;
      throw new BootstrapError("no", 64);
    });
    await expect(step).rejects.toMatchObject({ exitCode: 64 });
    expect(out.text).toContain("build: failed (1.5 s)");
  });
});
