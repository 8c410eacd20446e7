// Whoever comes back and does not read is owed what it missed: a thousand of them were each owed a copy of it, in memory.
import { createEventHub } from "@svc/runtime";
import { fakeClock } from "@svc/testkit/fake-clock";
import { expect, test } from "vitest";
import { Frames } from "../src/streams/subscribers.ts";
import { delta } from "./event-stream.ts";

test("all readers of an event are given the same bytes, whichever they are told between", () => {
  const hub = createEventHub({ clock: fakeClock(), boot: "b" });
  const [one, other] = [hub.publish(delta("one")), hub.publish(delta("other"))];
  const frames = new Frames();
  const replay = () => [one, other].map((event) => [frames.sse(event), frames.text(event)]);
  const [first, again] = [replay(), replay()];
  for (const [index, made] of first.entries()) for (const at of [0, 1]) expect(again[index]![at]).toBe(made[at]);
  expect(first.flat().map(String)).toEqual(
    [one, other].flatMap(({ id, json }) => [`id: ${id}\nevent: text-delta\ndata: ${json}\n\n`, json]),
  );
});
