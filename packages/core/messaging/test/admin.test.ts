// A person who looks after the boxes: shown a secret or half of one, told that something is tried again when it is not,
// or able to have one message answered twice.
import type { SvcError } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { say, talk } from "./delivery-fixture.ts";
import { codeOf, desk, SECRET } from "./admin-fixture.ts";

describe("the list", () => {
  test("has both boxes, newest first, the answer before what it answers; and no more than asked for", async () => {
    using agentFixture = desk();
    const { hear, put, messageAdmin, clock } = agentFixture;
    await hear("one");
    await clock.advance(1);
    await hear("two");
    await put(say("a", "answer two"));
    await clock.advance(1);
    await put(say("a", "three"));
    const ids = (...all: Parameters<typeof messageAdmin.list>) => messageAdmin.list(...all).map(({ id }) => id);
    expect(ids({}, 10)).toEqual(["out-2", "out-1", "in-2", "in-1"]);
    expect(ids({}, 2)).toEqual(["out-2", "out-1"]);
    expect([ids({ box: "in" }, 10), ids({ box: "out" }, 1)]).toEqual([["in-2", "in-1"], ["out-2"]]);
    expect([ids({ channel: "other" }, 10), ids({ state: "sent" }, 10)]).toEqual([[], []]);
  });

  test("shows the beginning of a text, and of a secret that the cut goes through nothing", async () => {
    using agentFixture = desk();
    const { hear, put, messageAdmin } = agentFixture;
    await hear(`${"x".repeat(195)}${SECRET} and more`);
    await put(say("a", `${"x".repeat(199)}😀${"y".repeat(100)}`));
    const [outgoing, incoming] = messageAdmin.list({}, 10);
    expect(incoming!.text).toBe(`${"x".repeat(195)}[reda…`);
    expect(outgoing!.text).toBe(`${"x".repeat(199)}…`);
  });
});

describe("a message that is shown", () => {
  test("has all of its text without secrets, who wrote it, its files, and what went out for it", async () => {
    using agentFixture = desk();
    const { hear, put, messageAdmin, clock } = agentFixture;
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
    expect(messageAdmin.show("in-1")).toEqual({
      ...answer,
      id: "in-1",
      sender: "+1",
      text: `my [redacted] ${"z".repeat(300)}`,
      kind: "message",
      files: [{ kind: "image", name: "cat.png" }],
      deliveries: [answer],
      platformId: undefined,
      platformStatus: undefined,
      platformReason: undefined,
      notice: undefined,
    });
  });

  test("that goes out has its files, and what the platform said", async () => {
    using agentFixture = desk();
    const { put, messageAdmin, store } = agentFixture;
    await put(say("a", "look", { files: [{ kind: "image", path: "pictures/cat.png", agent: "default" }] }));
    await store.write(() => {
      store.outbox.sent(1, "p1", 5);
      store.outbox.update("chat", { platformId: "p1", status: "failed", reason: `Not for ${SECRET}.` });
    });
    expect(messageAdmin.show("out-1")).toMatchObject({
      platformStatus: "failed",
      platformReason: "Not for [redacted].",
      kind: "delivery",
      state: "sent",
      endedAtMs: 5,
      files: [{ kind: "image", name: "cat.png" }],
      platformId: "p1",
      deliveries: [],
    });
  });

  test("of a notice has its body without secrets, and nobody wrote it", async () => {
    using agentFixture = desk();
    const { notice, messageAdmin } = agentFixture;
    await notice({ cursor: 7, token: SECRET });
    expect(messageAdmin.show("in-1")).toMatchObject({
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
      using agentFixture = desk();
      const { messageAdmin } = agentFixture;
      expect(() => messageAdmin.show(id)).toThrow(expect.objectContaining({ code: "MESSAGE_UNKNOWN" }));
      expect([await codeOf(messageAdmin.replay(id)), await codeOf(messageAdmin.drop(id))]).toEqual([
        "MESSAGE_UNKNOWN",
        "MESSAGE_UNKNOWN",
      ]);
    },
  );
});

describe("replay", () => {
  test.each(["failed", "dropped"] as const)("of a message that %s: it waits again, on disk first", async (state) => {
    using agentFixture = desk();
    const { hear, messageAdmin, store, told } = agentFixture;
    const { n } = await hear("hello");
    await store.write(() => store.inbox.end(n, state, "TURN_FAILED"));
    expect(await messageAdmin.replay("in-1")).toMatchObject({ id: "in-1", state: "waiting", attempts: 0 });
    expect([store.inbox.read(n)!.state, told.inbox]).toEqual(["waiting", [n]]);
  });

  test("of a message that waits or runs is refused", async () => {
    using agentFixture = desk();
    const { hear, messageAdmin, told } = agentFixture;
    await hear("hello");
    expect([await codeOf(messageAdmin.replay("in-1")), told.inbox]).toEqual(["MESSAGE_STATE", []]);
  });

  test("of an answered message: its dead deliveries are sent again, and nothing else is", async () => {
    using agentFixture = desk();
    const { hear, put, messageAdmin, store, told } = agentFixture;
    const { turnId } = await hear("hello");
    await put(...["1", "2", "3", "4"].map((text) => say("a", text, { turnId })), say("a", "another's"));
    await store.write(() => {
      store.inbox.end(1, "done");
      store.outbox.sent(1, "p", 1);
      for (const n of [2, 4, 5]) store.outbox.dead(n, "DELIVERY_REFUSED", 1);
      store.outbox.drop(3);
    });
    expect(await messageAdmin.replay("in-1")).toMatchObject({ id: "in-1", state: "done" });
    expect([told.inbox, told.outbox]).toEqual([[], ["2 waiting", "4 waiting"]]);
    expect([await codeOf(messageAdmin.replay("in-1")), store.outbox.read(5)!.state]).toEqual(["MESSAGE_STATE", "dead"]);
  });

  test.each([
    ["dead", true],
    ["dropped", true],
    ["sent", false],
    ["waiting", false],
  ])("of a delivery that is %s: %s", async (state, isReplayed) => {
    using agentFixture = desk();
    const { put, messageAdmin, store, told } = agentFixture;
    await put(say("a", "1"));
    await store.write(() => {
      if (state === "dead") store.outbox.dead(1, "DELIVERY_REFUSED", 1);
      if (state === "dropped") store.outbox.drop(1);
      if (state === "sent") store.outbox.sent(1, "p", 1);
    });
    const result = await messageAdmin.replay("out-1").then(
      ({ state }) => state,
      ({ code }: SvcError) => code,
    );
    expect([result, told.outbox]).toEqual(isReplayed ? ["waiting", ["1 waiting"]] : ["MESSAGE_STATE", []]);
  });

  test("twice in one instant happens once", async () => {
    using agentFixture = desk();
    const { put, messageAdmin, store, told } = agentFixture;
    await put(say("a", "1"));
    await store.write(() => store.outbox.dead(1, "DELIVERY_REFUSED", 1));
    await Promise.allSettled([messageAdmin.replay("out-1"), messageAdmin.replay("out-1")]);
    expect(told.outbox).toEqual(["1 waiting"]);
  });
});

describe("drop", () => {
  test("of a message: it ends on disk, then its turn is stopped", async () => {
    using agentFixture = desk();
    const { hear, messageAdmin, store, told } = agentFixture;
    const { turnId } = await hear("hello");
    const dropped = messageAdmin.drop("in-1");
    expect(told.stopped).toEqual([]);
    expect(await dropped).toMatchObject({ state: "dropped" });
    expect([told.stopped, store.inbox.read(1)!.state]).toEqual([[turnId], "dropped"]);
  });

  test("of a message that was answered in the same instant is refused, and nothing is stopped", async () => {
    using agentFixture = desk();
    const { hear, messageAdmin, store, told } = agentFixture;
    await hear("hello");
    const answered = store.write(() => store.inbox.end(1, "done"));
    expect([await codeOf(messageAdmin.drop("in-1")), told.stopped]).toEqual(["MESSAGE_STATE", []]);
    await answered;
  });

  test("of a delivery: it ends on disk, and the dispatcher forgets it; of one that is over: refused", async () => {
    using agentFixture = desk();
    const { put, messageAdmin, store, told } = agentFixture;
    await put(say("a", "1"));
    expect(await messageAdmin.drop("out-1")).toMatchObject({ state: "dropped" });
    expect([told.forgotten, store.outbox.read(1)!.state]).toEqual([[1], "dropped"]);
    expect([await codeOf(messageAdmin.drop("out-1")), told.forgotten]).toEqual(["MESSAGE_STATE", [1]]);
  });
});

test("the counts are those of both boxes", async () => {
  using agentFixture = desk();
  const { hear, put, messageAdmin, clock } = agentFixture;
  await hear("hello");
  await put(say("a", "1"));
  await clock.advance(1_000);
  expect(messageAdmin.counts()).toMatchObject({
    inbox: { waiting: 1 },
    outbox: { waiting: 1 },
    oldestWaitingMs: 1_000,
  });
});
