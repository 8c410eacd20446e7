// A channel with a wrong token that is started again for ever; one that is given up because its platform was away for a
// minute; one that goes on after it was told to stop.
import { type ErrorCode, SvcError } from "@svc/contract";
import { expect, test } from "vitest";
import { asCheckFailure, runChannel } from "../src/index.ts";
import { captureLogger, settled } from "./log-lines.ts";

test("what the platform says is told once, and run goes on until it is stopped", async () => {
  const log = captureLogger();
  const stop = new AbortController();
  let ended = false;
  const running = runChannel(() => Promise.resolve("Acme, 3 lines"), log, stop.signal).then(() => (ended = true));
  await settled();
  expect(ended).toBe(false);
  stop.abort();
  await running;
  expect(log.lines).toEqual([
    { level: "info", message: "the platform knows this channel", fields: { account: "Acme, 3 lines" } },
  ]);
});

test("refused credentials give the channel up; anything else is for whoever starts it again", async () => {
  const failing = (error: unknown) => runChannel(() => Promise.reject(error), captureLogger(), never);
  const refused = new SvcError("CHANNEL_UNAUTHORIZED", "No.", { hint: "Look." });
  await expect(failing(refused)).rejects.toMatchObject({ code: "FEATURE_FAILED", message: "No.", hint: "Look." });
  for (const error of [new SvcError("REMOTE_TIMEOUT"), new Error("other")]) {
    await expect(failing(error)).rejects.toBe(error);
  }
});

test("nothing is asked when it was stopped before, and a stop during the check ends it", async () => {
  let asked = 0;
  const check = () => Promise.resolve(`${++asked}`);
  await expect(runChannel(check, captureLogger(), AbortSignal.abort(new Error("off")))).rejects.toThrow("off");
  expect(asked).toBe(0);
  const stop = new AbortController();
  const checkAndStop = async () => (stop.abort(), "x");
  await runChannel(checkAndStop, captureLogger(), stop.signal);
});

test.each<[ErrorCode, ErrorCode]>([
  ["DELIVERY_REFUSED", "REMOTE_UNREACHABLE"],
  ["DELIVERY_FAILED", "REMOTE_UNREACHABLE"],
  ["CHANNEL_UNAUTHORIZED", "CHANNEL_UNAUTHORIZED"],
  ["REMOTE_TIMEOUT", "REMOTE_TIMEOUT"],
])("a check that fails with %s fails with %s, and keeps when to come back", (code, expected) => {
  const error = new SvcError(code, "Status 503.", { retryAfterMs: 7 });
  expect(caught(error)).toMatchObject({ code: expected, message: "Status 503.", retryAfterMs: 7 });
});

const never = new AbortController().signal;

function caught(error: unknown): unknown {
  try {
    return asCheckFailure(error);
  } catch (thrown) {
    return thrown;
  }
}
