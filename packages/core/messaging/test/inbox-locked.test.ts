// An encrypted message whose keys come late: answered once, with its place in the inbox, and shown as what it is until then.
import { describe, expect, test } from "vitest";
import { messagingFixture, said } from "./messaging-fixture.ts";

const locked = (id: string) => said("[encrypted message]", { id, kind: "locked" });
const readable = (id: string, text: string) => said(text, { id, unlocks: true });
const DAY_MS = 86_400_000;

describe("a locked message", () => {
  test("waits for its keys, and is answered once they have come", async () => {
    using made = messagingFixture();
    await made.receive(locked("a"));
    expect(made.model.asked).toEqual([]);
    expect(made.events).toEqual([]);
    expect(made.messaging.messageAdmin.show("in-1")).toMatchObject({
      state: "waiting",
      waitsFor: "keys",
      kind: "locked",
      text: "[encrypted message]",
      sender: said("").sender,
    });
    expect(made.messaging.messageAdmin.counts()).toMatchObject({
      inbox: { waiting: 1 },
      locked: 1,
      oldestWaitingMs: undefined,
    });
    const { turnId } = made.row(1);
    await made.receive(readable("a", "hello"));
    expect(made.row(1)).toMatchObject({ kind: "message", state: "done", turnId });
    expect(made.answersTo(1)).toEqual(["echo hello"]);
    expect(made.messaging.messageAdmin.show("in-1")).toMatchObject({ waitsFor: undefined, text: "hello" });
    expect(made.row(1).body).not.toHaveProperty("unlocks");
    expect(await made.messaging.receive("chat", [readable("a", "hello"), locked("a")])).toEqual([
      "duplicate",
      "duplicate",
    ]);
    expect(made.model.asked).toHaveLength(1);
  });

  test("is answered by the next process, when its keys come to that one", async () => {
    using first = messagingFixture();
    await first.receive(locked("a"), said("plain", { id: "b" }));
    expect(first.answersTo(2)).toEqual(["echo plain"]);
    using next = messagingFixture({ folder: first.folder, clock: first.clock });
    await next.pass(1_000);
    expect(next.model.asked).toEqual([]);
    await next.receive(readable("a", "late"));
    expect(next.answersTo(1)).toEqual(["echo late"]);
  });

  test("does not keep the others of its conversation waiting, nor count as one of too many", async () => {
    using made = messagingFixture({ settings: { isUp: () => false } });
    const crowd = Array.from({ length: 1_000 }, (_, at) => said("x", { id: `x${at}` }));
    expect(await made.messaging.receive("chat", crowd)).toHaveLength(1_000);
    expect(await made.messaging.receive("chat", [locked("a")])).toEqual(["kept"]);
    await expect(made.messaging.receive("chat", [said("y", { id: "y" })])).rejects.toMatchObject({ code: "BUSY" });
  });

  test.each([
    [{ withdrawn: ["a"] }, { state: "dropped", error: undefined }],
    [{ ended: [{ id: "a", as: "failed" }] }, { state: "failed", error: "KEYS_MISSING", attempts: 0 }],
    [{ ended: [{ id: "a", as: "done" }] }, { state: "done", error: undefined }],
  ] as const)("ends by %j, and is not answered after that", async (more, end) => {
    using made = messagingFixture();
    await made.receive(locked("a"));
    await made.messaging.receive("chat", [], undefined, more as never);
    expect(made.row(1)).toMatchObject(end);
    const { conversation } = said("");
    const { turnId } = made.row(1);
    const told = { type: "message-failed", messageId: "in-1", conversation, turnId, code: "KEYS_MISSING" };
    expect(made.events).toEqual(end.state === "failed" ? [told] : []);
    expect(made.messaging.messageAdmin.counts().locked).toBe(0);
    expect(await made.messaging.receive("chat", [readable("a", "too late")])).toEqual(["duplicate"]);
    expect([made.model.asked.length, made.chat.asked.length]).toEqual([0, 0]);
    await expect(made.messaging.messageAdmin.replay("in-1")).rejects.toMatchObject({ code: "MESSAGE_STATE" });
    const all = { state: "failed" as const };
    const { count } = await made.messaging.messageAdmin.replayAll(all, new AbortController().signal);
    expect(count).toBe(0);
  });

  test("that a person drops stays dropped when its keys come", async () => {
    using made = messagingFixture();
    await made.receive(locked("a"));
    await made.messaging.messageAdmin.drop("in-1");
    expect(await made.messaging.receive("chat", [readable("a", "hello")])).toEqual(["duplicate"]);
    expect(made.row(1).state).toBe("dropped");
  });

  test("that turns out to be a reaction is done", async () => {
    using made = messagingFixture();
    await made.receive(locked("a"));
    await made.receive(said("👍", { id: "a", kind: "reaction", unlocks: true }));
    expect(made.row(1)).toMatchObject({ kind: "reaction", state: "done" });
    expect(made.model.asked).toEqual([]);
  });

  test("of another channel is another one; one that was never locked is a message like any other", async () => {
    using made = messagingFixture({ idle: true });
    const other = { ...locked("a"), conversation: { channel: "other", id: "1" } };
    await made.messaging.receive("other", [other]);
    expect(await made.messaging.receive("chat", [readable("a", "hello")])).toEqual(["kept"]);
    expect(made.row(1).kind).toBe("locked");
    expect(made.row(2)).toMatchObject({ kind: "message", state: "waiting" });
  });

  test("whose channel is gone fails at a start, two days later", async () => {
    using first = messagingFixture({ idle: true });
    await first.messaging.receive("chat", [locked("a")]);
    await first.clock.advance(DAY_MS);
    await first.messaging.receive("chat", [locked("b")]);
    await first.clock.advance(1.5 * DAY_MS);
    using next = messagingFixture({ folder: first.folder, clock: first.clock });
    await next.pass(1);
    expect([next.row(1).state, next.row(2).state]).toEqual(["failed", "waiting"]);
  });
});
