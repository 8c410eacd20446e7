// What everybody sees of the service comes out of here: an order that differs between two readers, a secret in a text from
// outside, or a reader that disturbs the publisher would be seen nowhere else.
import type { ClientId, SvcEvent } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { type StampedEvent, type Subscriber, createEventHub } from "../src/index.ts";
import { SAMPLES } from "./event-samples.ts";
import { FakeClock } from "./fake-clock.ts";

const clock = new FakeClock();
const sample = (type: SvcEvent["type"]): SvcEvent => SAMPLES.find((one) => one.type === type)!;
const event = (text: string): SvcEvent => ({
  type: "text-delta",
  turnId: "t",
  sessionId: "s",
  conversationId: "c",
  offset: 0,
  owner: "o" as ClientId,
  text,
});

function reader(onTell?: (event: StampedEvent) => void): Subscriber & { readonly seen: unknown[] } {
  const seen: unknown[] = [];
  return { seen, tell: (told) => (seen.push(told.n), onTell?.(told)), dropped: (reason) => seen.push(reason) };
}

describe("on the wire", () => {
  test.each(SAMPLES)("a $type has an id, a time and a payload in snake_case, and no ClientId", (sample) => {
    const { json } = createEventHub({ clock, boot: "b" }).publish(sample);
    const { id, type, timestamp, payload } = JSON.parse(json);
    expect([id, type, timestamp]).toEqual(["b-1", sample.type, new Date(clock.now()).toISOString()]);
    expect(Object.keys(payload).filter((key) => !/^[a-z_]+$/.test(key))).toEqual([]);
    expect(json).not.toContain("client-secret");
    // Absent is null: a reader of another language need not tell two kinds of nothing apart.
    expect(Object.values(payload)).not.toContain(undefined);
  });

  test("a turn names the device whose it is, and nobody where it is none", () => {
    const hub = createEventHub({ clock, boot: "b", deviceOf: (owner) => (owner === "o" ? "dev-1" : undefined) });
    expect(JSON.parse(hub.publish(event("x")).json).payload).toEqual({
      turn_id: "t",
      conversation_id: "c",
      offset: 0,
      session_id: "s",
      device: "dev-1",
      text: "x",
    });
    expect(JSON.parse(hub.publish(SAMPLES[0]!).json).payload.device).toBeNull();
  });

  test("what outsiders wrote has no secret in it, whichever field they wrote it into", () => {
    const hub = createEventHub({ clock, boot: "b", redact: (text) => text.replaceAll("s3cret", "***") });
    const written = (type: SvcEvent["type"], texts: object): string =>
      hub.publish({ ...SAMPLES.find((sample) => sample.type === type)!, ...texts } as SvcEvent).json;
    const jsons = [
      written("channel_event", { event: "s3cret", title: "a s3cret", message: "s3cret" }),
      written("human_approval_request", { title: "s3cret", message: "s3cret" }),
      written("human_approval_resolved", { feedback: "s3cret", by: "s3cret" }),
    ];
    expect(jsons.join("")).not.toContain("s3cret");
  });

  test("a wall clock that is set to nonsense stops nothing", () => {
    const broken = { ...sample("human_approval_request"), expiresAtMs: Number.NaN } as SvcEvent;
    expect(JSON.parse(createEventHub({ clock, boot: "b" }).publish(broken).json).payload.expires_at).toBeDefined();
  });

  test("it is made once, however many read it", () => {
    let redactions = 0;
    const hub = createEventHub({ clock, boot: "b", redact: (text) => ((redactions += 1), text) });
    const texts = new Set<string>();
    for (let count = 0; count < 3; count += 1)
      hub.subscribe({ tell: ({ json }) => texts.add(json), dropped: () => {} });
    hub.publish(sample("channel_event"));
    expect([texts.size, redactions]).toEqual([1, 1]);
  });
});

describe("subscribers", () => {
  test("are told from here on, until they end", () => {
    const hub = createEventHub({ clock, boot: "b" });
    const one = reader();
    hub.publish(event("before"));
    const subscription = hub.subscribe(one);
    hub.publish(event("during"));
    subscription.end();
    subscription.end();
    hub.publish(event("after"));
    expect([one.seen, hub.subscribers, hub.n]).toEqual([[2], 0, 3]);
  });

  test("all see one order, also of what one of them publishes while it is told", () => {
    const hub = createEventHub({ clock, boot: "b" });
    const first = reader(({ n }) => n === 1 && hub.publish(event("answer")));
    const second = reader();
    hub.subscribe(first);
    hub.subscribe(second);
    hub.publish(event("question"));
    expect([first.seen, second.seen]).toEqual([
      [1, 2],
      [1, 2],
    ]);
  });

  test("who comes while an event is told, or publishes while it is replayed, sees each once and in order", () => {
    const hub = createEventHub({ clock, boot: "b" });
    hub.publish(event("1"));
    hub.publish(event("2"));
    const late = reader(({ n }) => n === 1 && hub.publish(event("5")));
    hub.subscribe(reader(({ n }) => void (n === 3 && (hub.publish(event("4")), hub.subscribe(late, "b-0")))));
    hub.publish(event("3"));
    expect(late.seen).toEqual([1, 2, 3, 4, 5]);
  });

  test("one that throws is told no more; the others and the publisher don't notice", () => {
    const hub = createEventHub({ clock, boot: "b" });
    const other = reader();
    hub.subscribe(
      reader(() => {
        throw new Error("broken");
      }),
    );
    hub.subscribe(other);
    hub.publish(event("1"));
    hub.publish(event("2"));
    expect([other.seen, hub.subscribers]).toEqual([[1, 2], 1]);
  });
});

describe("a Last-Event-ID", () => {
  const filled = (ring?: { maxEvents: number; maxBytes: number }) => {
    const hub = createEventHub({ clock, boot: "boot-1", ...(ring && { ring }) });
    for (let count = 0; count < 5; count += 1) hub.publish(event("x"));
    return hub;
  };
  const told = (hub: ReturnType<typeof filled>, after: string): unknown[] => {
    const one = reader();
    hub.subscribe(one, after);
    return one.seen;
  };

  test("brings what came after it, first", () => {
    expect(told(filled(), "boot-1-3")).toEqual([4, 5]);
    expect(told(filled(), "boot-1-0")).toEqual([1, 2, 3, 4, 5]);
    expect(told(filled(), "boot-1-5")).toEqual([]);
  });

  test.each([
    ["another-boot", "boot-2-3"],
    ["another-boot", "boot-3"],
    ["malformed", "boot-1-6"],
    ["malformed", ""],
    ["another-boot", "boot-1"],
    ["malformed", "3"],
    ["malformed", "boot-1-03"],
    ["another-boot", "boot-1--3"],
    ["malformed", "boot-1-3 "],
    ["malformed", "boot-1-1e9"],
    ["malformed", "boot-1-99999999999999999999"],
    ["malformed", `${"b".repeat(65)}-1`],
    ["malformed", "böt-1"],
  ] as const)("is answered %j for %j, and nothing is replayed", (reason, after) => {
    expect(told(filled(), after)).toEqual([reason]);
  });

  test("older than what is remembered, by number or by size, is too old", () => {
    const few = { maxEvents: 2, maxBytes: 1e9 };
    expect([told(filled(few), "boot-1-2"), told(filled(few), "boot-1-3")]).toEqual([["too-old"], [4, 5]]);
    const small = { maxEvents: 100, maxBytes: 2_500 };
    expect([told(filled(small), "boot-1-2"), told(filled(small), "boot-1-3")]).toEqual([["too-old"], [4, 5]]);
  });

  test("a single event that is larger than the memory is told, and not remembered", () => {
    const hub = createEventHub({ clock, boot: "b", ring: { maxEvents: 10, maxBytes: 10_000 } });
    const live = reader();
    hub.subscribe(live);
    hub.publish(event("small"));
    hub.publish(event("x".repeat(20_000)));
    hub.publish(event("small"));
    expect(live.seen).toEqual([1, 2, 3]);
    const late = reader();
    hub.subscribe(late, "b-1");
    expect(late.seen).toEqual(["too-old"]);
    const next = reader();
    hub.subscribe(next, "b-2");
    expect(next.seen).toEqual([3]);
  });
});
