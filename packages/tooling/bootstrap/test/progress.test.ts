// A log of CI once held ten thousand frames of a spinner; a terminal once showed nothing for two minutes.
import { describe, expect, test } from "vitest";
import { BootstrapError, progressOn } from "../progress.mjs";

function recorder(isTTY: boolean) {
  const out = { isTTY, columns: 60, text: "", write: (text: string) => void (out.text += text) };
  const time = { nowMs: 0 };
  return { out, time, clock: () => time.nowMs };
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

  test("in a log: a step of some minutes prints one line of progress a minute", async () => {
    const { out, time, clock } = recorder(false);
    await progressOn(out, {}, clock).step("tests", async ({ note }) => {
      for (let done = 1; done <= 5; done += 1) {
        time.nowMs += 30_000;
        note(`${done} tests done\n`);
      }
    });
    expect(out.text).toBe("tests ...\n  60.0 s: 2 tests done\n  120.0 s: 4 tests done\ntests: done (150.0 s)\n");
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
