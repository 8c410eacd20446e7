// A reader that does not read must cost neither memory nor the others' time, and must not go on as if it had missed nothing.
import { createEventHub } from "@svc/runtime";
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SubscriberRegistry, Feed, type EventSink } from "../src/streams/subscribers.ts";
import { fakeClock } from "@svc/testkit/fake-clock";
import { bearer, delta, EventReader, socketOf } from "./event-stream.ts";
import { Harness } from "./harness.ts";
import { tick, until } from "./http.ts";

const LARGE = "x".repeat(100_000);

async function started(ring: { maxEvents: number; maxBytes: number }) {
  const harness = new Harness();
  const token = harness.device();
  harness.hub = createEventHub({ clock: harness.clock, boot: "boot-1", ring });
  await harness.start();
  const { hub } = harness;
  /** Publishes until nobody is told any more: what the kernel takes for a client that does not read is its own affair. */
  const flood = async (): Promise<number> => {
    const from = hub.n;
    for (let count = 0; hub.subscribers > 0 && count < 1_000; count += 1) {
      hub.publish(delta(`${hub.n + 1} ${LARGE}`));
      await tick();
    }
    return hub.n - from;
  };
  return { harness, hub, token, flood, clock: harness.clock };
}

const numbers = (texts: readonly unknown[]): number[] => texts.map((text) => Number(String(text).split(" ")[0]));
const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

describe.each(["stream", "socket"] as const)("a slow reader of a %s", (kind) => {
  async function reading(harness: Harness, token: string) {
    if (kind === "socket") {
      const reader = await socketOf(harness, token, { "last-event-id": harness.hub.boot + "-0" });
      return {
        texts: () => reader.texts,
        frames: () => reader.frames,
        stop: () => reader.ws.pause(),
        go: () => reader.ws.resume(),
      };
    }
    const reader = await EventReader.open(harness, bearer(token));
    return {
      texts: () => reader.texts,
      frames: () => reader.events,
      stop: () => reader.response.pause(),
      go: () => reader.response.resume(),
    };
  }

  test("misses nothing that is still remembered when it reads again, and sees it in order", async () => {
    const { harness, hub, token, flood } = await started({ maxEvents: 4_096, maxBytes: 1e9 });
    const reader = await reading(harness, token);
    reader.stop();
    await flood();
    for (let count = 0; count < 20; count += 1) hub.publish(delta(`${hub.n + 1} small`));
    const all = hub.n;
    reader.go();
    await until(() => reader.texts().length === all);
    expect(numbers(reader.texts())).toEqual(upTo(all));
    expect(hub.subscribers).toBe(1);
    hub.publish(delta(`${hub.n + 1} live`));
    await until(() => reader.texts().length === all + 1);
  });

  test("is told exactly how much it has missed, and goes on with what happens then", async () => {
    const { harness, hub, token, flood } = await started({ maxEvents: 4, maxBytes: 1e9 });
    const reader = await reading(harness, token);
    reader.stop();
    await flood();
    for (let count = 0; count < 10; count += 1) hub.publish(delta(`${hub.n + 1} lost`));
    const all = hub.n;
    reader.go();
    await until(() => reader.texts().includes("events-dropped"));
    const seen = reader.texts().indexOf("events-dropped");
    const dropped = reader.frames()[seen]!;
    expect([dropped.payload, dropped.id]).toEqual([{ reason: "slow", missed: all - seen }, `boot-1-${all}`]);
    expect(numbers(reader.texts().slice(0, seen))).toEqual(upTo(seen));
    hub.publish(delta("live"));
    await until(() => reader.texts().at(-1) === "live");
  });

  test("that does not read for a minute is cut", async () => {
    const { harness, hub, token, flood, clock } = await started({ maxEvents: 4, maxBytes: 1e9 });
    const reader = await reading(harness, token);
    reader.stop();
    await flood();
    await clock.advance(59_000);
    expect(harness.gateway.connections).toBe(1);
    await clock.advance(31_000);
    await until(() => harness.gateway.connections === 0);
    expect(hub.subscribers).toBe(0);
  });
});

test("fifty that do not read keep a thousand others from nothing", async () => {
  const { harness, hub, token, flood, clock } = await started({ maxEvents: 100, maxBytes: 1e9 });
  const slow = await Promise.all(Array.from({ length: 50 }, () => EventReader.open(harness, bearer(token))));
  for (const reader of slow) reader.response.pause();
  await flood();
  expect(hub.subscribers).toBe(0);
  const others = await Promise.all(Array.from({ length: 1_000 }, () => EventReader.open(harness, bearer(token))));
  for (let count = 0; count < 5; count += 1) hub.publish(delta(`hello ${count}`));
  await until(() => others.every(({ texts }) => texts.length === 5));
  expect(hub.subscribers).toBe(1_000);
  await clock.advance(90_000);
  await until(() => harness.gateway.connections === 1_000);
  for (const reader of others) reader.close();
});

test("the more readers there are, the less of each may be unread: all together it is 32 MiB", () => {
  const clock = fakeClock();
  const subscribers = new SubscriberRegistry(createEventHub({ clock, boot: "b" }), clock);
  const sink = { pending: 0, event() {}, notice() {}, beat() {}, end() {}, cut() {} };
  let joined = 0;
  const allowed = [1, 128, 129, 5_000].map((count) => {
    while (joined < count) joined = (subscribers.join({ id: "d" }, sink, () => true), joined + 1);
    return subscribers.behindBytes() * count;
  });
  expect(allowed.map(Math.round)).toEqual([262_144, 33_554_432, 33_554_432, 33_554_432]);
});

describe("a feed, whatever its client does", () => {
  const step = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ do: fc.constant("publish" as const), chars: fc.constantFrom(1, 1_000, 200_000) }),
    },
    { weight: 2, arbitrary: fc.constant({ do: "read" as const }) },
    { weight: 1, arbitrary: fc.constant({ do: "reconnect" as const }) },
  );

  test("has no gap that was not told, nothing twice, and never much in memory", () => {
    const limits = fc.record({ maxEvents: fc.integer({ min: 1, max: 10 }), maxBytes: fc.constant(1e9) });
    fc.assert(
      fc.property(limits, fc.array(step, { maxLength: 60 }), (ring, steps) => {
        const clock = fakeClock();
        const hub = createEventHub({ clock, boot: "b", ring });
        const faults: string[] = [];
        let position = 0;
        let feed: Feed;
        class Client implements EventSink {
          pending = 0;
          event({ n, json }: { n: number; json: string }): void {
            if (n !== position + 1) faults.push(`${n} after ${position}`);
            position = n;
            this.pending += json.length;
            if (this.pending > 256 * 1024 + 201_000) faults.push(`${this.pending} in memory`);
          }
          notice(id: string, type: string, json: string): void {
            const { payload } = JSON.parse(json);
            const isRight =
              payload.reason === "slow" ? payload.missed === hub.n - position : payload.reason === "too-old";
            if (type !== "events-dropped" || !isRight || hub.n === position) faults.push(json);
            position = hub.n;
            if (id !== `b-${position}`) faults.push(id);
          }
          beat(): void {}
          end(): void {}
          cut(): void {}
        }
        const connect = (after?: string): Client => {
          const sink = new Client();
          feed = new Feed({ hub, clock, sink, filter: () => true, deviceId: "d", behindBytes: () => 256 * 1024 });
          feed.start(after);
          return sink;
        };
        let client = connect();
        for (const action of steps) {
          if (action.do === "publish") hub.publish(delta("x".repeat(action.chars)));
          else if (action.do === "read") {
            client.pending = 0;
            feed!.drained();
          } else {
            feed!.stop();
            client = connect(`b-${position}`);
          }
        }
        for (let reads = 0; reads < 50; reads += 1) {
          client.pending = 0;
          feed!.drained();
        }
        if (position !== hub.n) faults.push(`ends at ${position} of ${hub.n}`);
        expect(faults).toEqual([]);
      }),
      { numRuns: cases(60) },
    );
  });
});
