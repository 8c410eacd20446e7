// A failed turn always says what to do; what a provider said stays apart from what everybody may read.
import { describe, expect, test } from "vitest";
import { ERRORS, type ErrorCode, SvcError, turnFailure, waitText } from "../src/index.ts";

describe("turnFailure", () => {
  test.each(Object.keys(ERRORS) as ErrorCode[])("%s has a message and a fix", (code) => {
    const { message, fix, said } = turnFailure(new SvcError(code));
    expect([message, said]).toEqual([ERRORS[code].sentence, undefined]);
    expect(fix).toMatch(/\w+.*\.$/);
  });

  test("an error's own hint goes first, and its wait is told where it has none", () => {
    expect(turnFailure(new SvcError("MODEL_REFUSED", undefined, { hint: "Set the key." })).fix).toBe("Set the key.");
    expect(turnFailure(new SvcError("RATE_LIMITED", undefined, { retryAfterMs: 6_001 })).fix).toBe("Try again in 7 s.");
  });

  test("whatever else was thrown says nothing of itself", () => {
    const failure = turnFailure(new Error("sk-secret at /home/me"));
    expect(failure).toMatchObject({ code: "TURN_FAILED", said: undefined });
    expect(JSON.stringify(failure)).not.toMatch(/sk-secret|home/);
  });
});

test.each([
  [0, "1 s"],
  [1_001, "2 s"],
  [119_000, "119 s"],
  [120_000, "2 minutes"],
  [3_600_001, "61 minutes"],
])("a wait of %i ms is %s", (ms, text) => {
  expect(waitText(ms)).toBe(text);
});
