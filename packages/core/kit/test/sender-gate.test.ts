// Strangers who write without end: each is told to the log once, and neither the log nor the memory grows with them.
import { expect, test } from "vitest";
import { senderGate } from "../src/index.ts";
import { captureLogger } from "./log-lines.ts";

const gate = (allowed: string[]) => {
  const log = captureLogger();
  return { log, passes: senderGate({ allowed, mode: "phone", log, channel: "pager" }) };
};

test("who is on the list passes without a word", () => {
  const { log, passes } = gate(["+1 555 0100"]);
  expect([passes("+15550100"), passes("15550100")]).toEqual([true, true]);
  expect(log.lines).toEqual([]);
});

test("who is not is told once, at info, with the channel", () => {
  const { log, passes } = gate([]);
  expect([passes("+1"), passes("+2"), passes("+1"), passes("+1")]).toEqual([false, false, false, false]);
  expect(log.lines).toEqual([
    {
      level: "info",
      message: expect.stringContaining("is not on the allowlist"),
      fields: { channel: "pager", sender: "+1" },
    },
    {
      level: "info",
      message: expect.stringContaining("is not on the allowlist"),
      fields: { channel: "pager", sender: "+2" },
    },
  ]);
});

test("ten thousand strangers are a thousand lines and a last one", () => {
  const { log, passes } = gate([]);
  for (let number = 0; number < 10_000; number += 1) passes(`+${number}`);
  expect(log.lines).toHaveLength(1001);
  expect(log.lines.at(-1)).toMatchObject({ fields: { channel: "pager" } });
  expect(log.lines.at(-1)).not.toHaveProperty("fields.sender");
  expect(passes("+0")).toBe(false);
  expect(log.lines).toHaveLength(1001);
});

test("a sender of a megabyte is a short line", () => {
  const { log, passes } = gate([]);
  passes("x".repeat(1_000_000));
  expect(JSON.stringify(log.lines).length).toBeLessThan(600);
});
