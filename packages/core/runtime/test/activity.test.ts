// The picture of the last hour: a minute that shows another hour's counts would report a traffic that is not there.
import type { SvcEvent } from "@svc/contract";
import { expect, test } from "vitest";
import { Activity } from "../src/index.ts";
import { SAMPLES } from "./event-samples.ts";
import { FakeClock } from "./fake-clock.ts";

const of = (type: SvcEvent["type"], change: object = {}): SvcEvent =>
  ({ ...SAMPLES.find((sample) => sample.type === type)!, ...change }) as SvcEvent;

test("counts what came in, was answered, delivered and failed, each once", () => {
  const activity = new Activity(new FakeClock());
  for (const sample of SAMPLES) activity.record(sample);
  activity.record(of("turn-end", { ok: false }));
  // Its turn has told it already.
  activity.record(of("message-failed", { messageId: "in-1" }));
  expect(activity.minutes().at(-1)).toMatchObject({ received: 1, answered: 1, delivered: 1, failed: 2 });
});

test("sixty minutes that follow each other, the one that runs last, also after hours of silence", async () => {
  const clock = new FakeClock();
  const activity = new Activity(clock);
  activity.record(of("message-received"));
  await clock.advance(59 * 60_000);
  activity.record(of("message-received"));
  const minutes = activity.minutes();
  expect(minutes).toHaveLength(60);
  expect([minutes[0]!.received, minutes[59]!.received]).toEqual([1, 1]);
  const began = Date.parse(minutes[0]!.at);
  expect(minutes.map(({ at }) => Date.parse(at) - began)).toEqual(minutes.map((_, index) => index * 60_000));
  await clock.advance(60_000);
  expect(activity.minutes().map(({ received }) => received)).toEqual([...Array(58).fill(0), 1, 0]);
  await clock.advance(60 * 60_000 * 5);
  expect(activity.minutes().some(({ received }) => received > 0)).toBe(false);
});
