// A client that says what it has seen last while it is too slow to be told anything: what it missed must be told when it reads again.
import { type StampedEvent, createEventHub } from "@svc/runtime";
import { fakeClock } from "@svc/testkit/fake-clock";
import { expect, test } from "vitest";
import { Feed } from "../src/streams/subscribers.ts";

class Reader {
  pending = 0;
  readonly told: string[] = [];
  readonly event = ({ n }: StampedEvent): void => void this.told.push(`event ${n}`);
  readonly notice = (_id: string, type: string, json: string): void =>
    void this.told.push(`${type} ${(JSON.parse(json) as { payload: { reason: string } }).payload.reason}`);
  readonly beat = (): void => {};
  readonly end = (): void => {};
  readonly cut = (): void => {};
}

test.for([
  ["boot-1", ["event 2", "event 3", "event 4"]],
  ["another-1", ["events-dropped another-boot"]],
  [undefined, ["event 4"]],
] as const)("after %s", ([after, expected]) => {
  const clock = fakeClock();
  const hub = createEventHub({ clock, boot: "boot" });
  const publish = (): void =>
    void hub.publish({ type: "channel-health", channel: "a", feature: "a", state: "running", reason: undefined });
  publish();
  publish();
  const reader = new Reader();
  const feed = new Feed({
    hub,
    clock,
    sink: reader,
    filter: () => true,
    deviceId: "d",
    behindBytes: () => 256 * 1024,
  });
  feed.start();
  reader.pending = 1_000_000;
  publish();
  expect(reader.told.splice(0)).toEqual(["event 3"]);
  publish();
  if (after !== undefined) feed.start(after);
  expect(reader.told).toEqual([]);
  reader.pending = 0;
  feed.drained();
  expect(reader.told).toEqual(expected);
});
