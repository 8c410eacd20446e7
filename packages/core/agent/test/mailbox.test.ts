// A person who looks after the boxes: shown a secret or half of one, told that something is tried again when it is not,
// or able to have one message answered twice.
import { join } from "node:path";
import { SvcError, type Inbound, type Json } from "@svc/contract";
import { laneOf } from "@svc/kit";
import { type Delivery, type InboxMessage, type NewDelivery, type NewMessage, openStore } from "@svc/store";
import { fakeClock, temporaryHome } from "@svc/testkit";
import { describe, expect, test } from "vitest";
import { createMailbox } from "../src/messaging/mailbox/mailbox.ts";
import { say, talk } from "./delivery-house.ts";
import { failure } from "./house.ts";

const SECRET = "sesame-open";

function desk() {
  const home = temporaryHome();
  const clock = fakeClock();
  const store = openStore({ file: join(home.path, "svc.db"), clock, idempotency: { ttlMs: 300_000, maxKeys: 10 } });
  const told = { inbox: [] as number[], outbox: [] as string[], forgotten: [] as number[], stopped: [] as string[] };
  const mailbox = createMailbox({
    store,
    redact: (text) => text.replaceAll(SECRET, "[redacted]"),
    dispatcher: {
      wake: (rows) => told.outbox.push(...rows.map(({ n, state }) => `${n} ${state}`)),
      forget: ({ n }) => void told.forgotten.push(n),
    },
    wakeInbox: ({ n }) => void told.inbox.push(n),
    stopTurn: (turnId) => void told.stopped.push(turnId),
  });
  const arrive = async (message: NewMessage): Promise<InboxMessage> => {
    const arrived = await store.write(() => store.inbox.arrive({ channel: "chat", messages: [message] }, clock.now()));
    const [kept] = arrived.state === "kept" ? arrived.messages : [];
    if (kept === undefined || kept === "duplicate") throw new Error("it was to be kept");
    return store.inbox.read(kept.n)!;
  };
  return {
    store,
    clock,
    mailbox,
    told,
    hear: (text: string, more: Partial<Inbound> = {}) =>
      arrive({ kind: "message", lane: laneOf(talk("a")), body: inbound(text, more) as unknown as Json }),
    notice: (body: Json) => arrive({ kind: "notice", lane: "n", body }),
    put: async (...rows: NewDelivery[]): Promise<Delivery[]> => store.write(() => store.outbox.add(rows, clock.now())),
    [Symbol.dispose]() {
      store.close();
      home.remove();
    },
  };
}

const inbound = (text: string, more: Partial<Inbound>): Inbound => ({
  conversation: talk("a"),
  sender: "+1",
  text,
  ...more,
});

const codeOf = async (work: Promise<unknown>): Promise<string> => (await failure(work)).code;

describe("the list", () => {
  test("has both boxes, newest first, the answer before what it answers; and no more than asked for", async () => {
    using house = desk();
    const { hear, put, mailbox, clock } = house;
    await hear("one");
    await clock.advance(1);
    await hear("two");
    await put(say("a", "answer two"));
    await clock.advance(1);
    await put(say("a", "three"));
    const ids = (...all: Parameters<typeof mailbox.list>) => mailbox.list(...all).map(({ id }) => id);
    expect(ids({}, 10)).toEqual(["out-2", "out-1", "in-2", "in-1"]);
    expect(ids({}, 2)).toEqual(["out-2", "out-1"]);
    expect([ids({ box: "in" }, 10), ids({ box: "out" }, 1)]).toEqual([["in-2", "in-1"], ["out-2"]]);
    expect([ids({ channel: "other" }, 10), ids({ state: "sent" }, 10)]).toEqual([[], []]);
  });

  test("shows the beginning of a text, and of a secret that the cut goes through nothing", async () => {
    using house = desk();
    const { hear, put, mailbox } = house;
    await hear(`${"x".repeat(195)}${SECRET} and more`);
    await put(say("a", `${"x".repeat(199)}😀${"y".repeat(100)}`));
    const [outgoing, incoming] = mailbox.list({}, 10);
    expect(incoming!.text).toBe(`${"x".repeat(195)}[reda…`);
    expect(outgoing!.text).toBe(`${"x".repeat(199)}…`);
  });
});

describe("a message that is shown", () => {
  test("has all of its text without secrets, who wrote it, its files, and what went out for it", async () => {
    using house = desk();
    const { hear, put, mailbox, clock } = house;
    const { turnId } = await hear(`my ${SECRET} ${"z".repeat(300)}`, {
      media: [{ kind: "image", ref: "r", placeholder: "[image]", fileName: "cat.png" }],
    });
    await put(say("a", `yours: ${SECRET}`, { turnId }), say("b", "another's"));
    const answer = {
      id: "out-1",
      state: "waiting",
      channel: "chat",
      conversation: talk("a"),
      sender: undefined,
      text: "yours: [redacted]",
      attempts: 0,
      atMs: clock.now(),
      endedAtMs: undefined,
      error: undefined,
      turnId,
    };
    expect(mailbox.show("in-1")).toEqual({
      ...answer,
      id: "in-1",
      sender: "+1",
      text: `my [redacted] ${"z".repeat(300)}`,
      kind: "message",
      files: [{ kind: "image", name: "cat.png" }],
      deliveries: [answer],
      platformId: undefined,
      platformStatus: undefined,
      notice: undefined,
    });
  });

  test("that goes out has its files, and what the platform said", async () => {
    using house = desk();
    const { put, mailbox, store } = house;
    await put(say("a", "look", { files: [{ kind: "image", path: "pictures/cat.png", agent: "default" }] }));
    await store.write(() => store.outbox.sent(1, "p1", 5));
    expect(mailbox.show("out-1")).toMatchObject({
      kind: "delivery",
      state: "sent",
      endedAtMs: 5,
      files: [{ kind: "image", name: "cat.png" }],
      platformId: "p1",
      deliveries: [],
    });
  });

  test("of a notice has its body without secrets, and nobody wrote it", async () => {
    using house = desk();
    const { notice, mailbox } = house;
    await notice({ cursor: 7, token: SECRET });
    expect(mailbox.show("in-1")).toMatchObject({
      kind: "notice",
      text: "",
      sender: undefined,
      conversation: undefined,
      notice: { cursor: 7, token: "[redacted]" },
    });
  });

  test.each(["in-1", "out-9", "in-0", "in-01", "in-1e1", "in-", "12", "", "IN-1", "in-1 ", "out-99999999999999999999"])(
    "%j is unknown",
    async (id) => {
      using house = desk();
      const { mailbox } = house;
      expect(() => mailbox.show(id)).toThrow(expect.objectContaining({ code: "MESSAGE_UNKNOWN" }));
      expect([await codeOf(mailbox.replay(id)), await codeOf(mailbox.drop(id))]).toEqual([
        "MESSAGE_UNKNOWN",
        "MESSAGE_UNKNOWN",
      ]);
    },
  );
});

describe("replay", () => {
  test.each(["failed", "dropped"] as const)("of a message that %s: it waits again, on disk first", async (state) => {
    using house = desk();
    const { hear, mailbox, store, told } = house;
    const { n } = await hear("hello");
    await store.write(() => store.inbox.end(n, state, "TURN_FAILED"));
    expect(await mailbox.replay("in-1")).toMatchObject({ id: "in-1", state: "waiting", attempts: 0 });
    expect([store.inbox.read(n)!.state, told.inbox]).toEqual(["waiting", [n]]);
  });

  test("of a message that waits or runs is refused", async () => {
    using house = desk();
    const { hear, mailbox, told } = house;
    await hear("hello");
    expect([await codeOf(mailbox.replay("in-1")), told.inbox]).toEqual(["MESSAGE_STATE", []]);
  });

  test("of an answered message: its dead deliveries are sent again, and nothing else is", async () => {
    using house = desk();
    const { hear, put, mailbox, store, told } = house;
    const { turnId } = await hear("hello");
    await put(...["1", "2", "3", "4"].map((text) => say("a", text, { turnId })), say("a", "another's"));
    await store.write(() => {
      store.inbox.end(1, "done");
      store.outbox.sent(1, "p", 1);
      for (const n of [2, 4, 5]) store.outbox.dead(n, "DELIVERY_REFUSED", 1);
      store.outbox.drop(3);
    });
    expect(await mailbox.replay("in-1")).toMatchObject({ id: "in-1", state: "done" });
    expect([told.inbox, told.outbox]).toEqual([[], ["2 waiting", "4 waiting"]]);
    expect([await codeOf(mailbox.replay("in-1")), store.outbox.read(5)!.state]).toEqual(["MESSAGE_STATE", "dead"]);
  });

  test.each([
    ["dead", true],
    ["dropped", true],
    ["sent", false],
    ["waiting", false],
  ])("of a delivery that is %s: %s", async (state, isReplayed) => {
    using house = desk();
    const { put, mailbox, store, told } = house;
    await put(say("a", "1"));
    await store.write(() => {
      if (state === "dead") store.outbox.dead(1, "DELIVERY_REFUSED", 1);
      if (state === "dropped") store.outbox.drop(1);
      if (state === "sent") store.outbox.sent(1, "p", 1);
    });
    const result = await mailbox.replay("out-1").then(
      ({ state }) => state,
      ({ code }: SvcError) => code,
    );
    expect([result, told.outbox]).toEqual(isReplayed ? ["waiting", ["1 waiting"]] : ["MESSAGE_STATE", []]);
  });

  test("twice in one instant happens once", async () => {
    using house = desk();
    const { put, mailbox, store, told } = house;
    await put(say("a", "1"));
    await store.write(() => store.outbox.dead(1, "DELIVERY_REFUSED", 1));
    await Promise.allSettled([mailbox.replay("out-1"), mailbox.replay("out-1")]);
    expect(told.outbox).toEqual(["1 waiting"]);
  });
});

describe("replay of all", () => {
  const never = new AbortController().signal;

  /** Messages of two channels in turn, all failed. */
  async function failed(house: ReturnType<typeof desk>, count: number): Promise<void> {
    const { store, clock } = house;
    const body = inbound("hello", {}) as unknown as Json;
    await store.write(() => {
      for (let n = 1; n <= count; n += 1) {
        const channel = n % 2 === 0 ? "even" : "odd";
        store.inbox.arrive({ channel, messages: [{ kind: "message", lane: `${n}`, body }] }, clock.now());
        store.inbox.end(n, "failed", "TURN_FAILED");
      }
    });
  }

  test("that failed: more than one page of them, in order of arrival, of one channel or of all; named are a thousand", async () => {
    using house = desk();
    const { mailbox, store, told } = house;
    await failed(house, 2_500);
    const even = { state: "failed", channel: "even" } as const;
    expect([await mailbox.countEnded(even), await mailbox.countEnded({ state: "failed" })]).toEqual([1_250, 2_500]);
    const done = await mailbox.replayAll(even, never);
    expect([done.count, done.ids.length, done.ids[999]]).toEqual([1_250, 1_000, "in-2000"]);
    expect(told.inbox).toEqual(Array.from({ length: 1_250 }, (_, index) => 2 * (index + 1)));
    expect(store.inbox.counts().inbox).toMatchObject({ waiting: 1_250, failed: 1_250 });
    expect(await mailbox.replayAll({ state: "failed", channel: "other" }, never)).toEqual({ count: 0, ids: [] });
    expect(await mailbox.replayAll({ state: "failed" }, never)).toMatchObject({ count: 1_250 });
    expect(await mailbox.replayAll({ state: "failed" }, never)).toEqual({ count: 0, ids: [] });
  });

  test("that are dead, and nothing that was dropped, sent, or waits", async () => {
    using house = desk();
    const { put, mailbox, store, told } = house;
    await put(...["1", "2", "3", "4", "5"].map((text) => say("a", text)));
    await store.write(() => {
      for (const n of [1, 4]) store.outbox.dead(n, "DELIVERY_REFUSED", 1);
      store.outbox.drop(2);
      store.outbox.sent(3, "p", 1);
    });
    expect(await mailbox.replayAll({ state: "dead" }, never)).toEqual({ count: 2, ids: ["out-1", "out-4"] });
    expect([told.outbox, told.inbox]).toEqual([["1 waiting", "4 waiting"], []]);
    expect(store.outbox.counts()).toEqual({ waiting: 3, sent: 1, dead: 0, dropped: 1 });
  });

  test("takes up none a second time that fails again at once", async () => {
    using house = desk();
    const { mailbox, store, told } = house;
    await failed(house, 1_000);
    const wake = told.inbox.push.bind(told.inbox);
    told.inbox.push = (n) => {
      void store.write(() => store.inbox.end(n, "failed", "TURN_FAILED"));
      return wake(n);
    };
    expect(await mailbox.replayAll({ state: "failed" }, never)).toMatchObject({ count: 1_000 });
    await store.write(() => {});
    expect([told.inbox.length, store.inbox.counts().inbox.failed]).toEqual([1_000, 1_000]);
  });

  test("lets others have their turn between its pages, and ends when nobody waits for it any more", async () => {
    using house = desk();
    const { mailbox, store, told } = house;
    await failed(house, 1_000);
    const gone = new AbortController();
    const replayed = mailbox.replayAll({ state: "failed" }, gone.signal);
    await store.write(() => {});
    gone.abort(new SvcError("CANCELLED"));
    expect(await codeOf(replayed)).toBe("CANCELLED");
    // What it had taken up by then is on disk, and is worked on.
    const { waiting } = store.inbox.counts().inbox;
    expect(waiting).toBeGreaterThan(0);
    expect(waiting).toBeLessThan(1_000);
    expect(told.inbox).toHaveLength(waiting);
  });
});

describe("drop", () => {
  test("of a message: it ends on disk, then its turn is stopped", async () => {
    using house = desk();
    const { hear, mailbox, store, told } = house;
    const { turnId } = await hear("hello");
    const dropped = mailbox.drop("in-1");
    expect(told.stopped).toEqual([]);
    expect(await dropped).toMatchObject({ state: "dropped" });
    expect([told.stopped, store.inbox.read(1)!.state]).toEqual([[turnId], "dropped"]);
  });

  test("of a message that was answered in the same instant is refused, and nothing is stopped", async () => {
    using house = desk();
    const { hear, mailbox, store, told } = house;
    await hear("hello");
    const answered = store.write(() => store.inbox.end(1, "done"));
    expect([await codeOf(mailbox.drop("in-1")), told.stopped]).toEqual(["MESSAGE_STATE", []]);
    await answered;
  });

  test("of a delivery: it ends on disk, and the dispatcher forgets it; of one that is over: refused", async () => {
    using house = desk();
    const { put, mailbox, store, told } = house;
    await put(say("a", "1"));
    expect(await mailbox.drop("out-1")).toMatchObject({ state: "dropped" });
    expect([told.forgotten, store.outbox.read(1)!.state]).toEqual([[1], "dropped"]);
    expect([await codeOf(mailbox.drop("out-1")), told.forgotten]).toEqual(["MESSAGE_STATE", [1]]);
  });
});

test("the counts are those of both boxes", async () => {
  using house = desk();
  const { hear, put, mailbox, clock } = house;
  await hear("hello");
  await put(say("a", "1"));
  await clock.advance(1_000);
  expect(mailbox.counts()).toMatchObject({ inbox: { waiting: 1 }, outbox: { waiting: 1 }, oldestWaitingMs: 1_000 });
});
