// Answers out of order, sent twice, sent never; a platform that is down taking the others with it, or wearing out attempts
// that nobody made; what a platform said in the log.
import { SvcError } from "@svc/contract";
import { keyOfConversation } from "@svc/kit";
import { describe, expect, test } from "vitest";
import { gate } from "@svc/agent/agent-fixture";
import { deliveryFixture, down, platform, quiet, say, talk } from "./delivery-fixture.ts";

const refused = new SvcError("DELIVERY_REFUSED", "words of the platform");
const failing = (text: string, error: Error) => (message: { text: string }) => (message.text === text ? error : "take");

describe("deliveries", () => {
  test("go in the order of their conversation, whatever the order in which they are told of", async () => {
    using agentFixture = deliveryFixture();
    const { keep, dispatcher, chat } = agentFixture;
    const [first] = await keep(say("a", "1"));
    const [second] = await keep(say("a", "2"));
    const [third] = await keep(say("a", "3"));
    dispatcher.wake([third!]);
    dispatcher.wake([second!, first!]);
    await quiet();
    expect(chat.taken).toEqual(["1", "2", "3"]);
  });

  test("carry all that the channel needs, and what became of them is kept and told", async () => {
    using agentFixture = deliveryFixture({
      openFile: async ({ kind, path }) => ({ kind, name: path, mimeType: "image/png", read }),
    });
    const { post, chat, events, row } = agentFixture;
    const conversation = talk("room", "thread");
    const files = [{ kind: "image", path: "a.png", agent: "default" }] as const;
    const [kept] = await post(say("room", "hello", { conversation, files, replyData: { under: "m1" }, turnId: "t-1" }));
    const { deliveryId, n } = kept!;
    expect(chat.asked).toEqual([
      {
        conversation,
        text: "hello",
        deliveryId,
        replyData: { under: "m1" },
        files: [{ kind: "image", name: "a.png", mimeType: "image/png", read }],
      },
    ]);
    expect(row(n)).toMatchObject({ state: "sent", platformId: "p-hello", attempts: 0 });
    expect(events).toEqual([
      { type: "message-delivered", messageId: `out-${n}`, conversation, turnId: "t-1", attempts: 1 },
    ]);
  });

  test("that are told of twice, or again when they are sent, go once", async () => {
    using agentFixture = deliveryFixture();
    const { keep, dispatcher, chat } = agentFixture;
    const rows = await keep(say("a", "1"), say("a", "2"));
    dispatcher.wake(rows);
    dispatcher.wake(rows);
    await quiet();
    dispatcher.wake(rows);
    await quiet();
    expect(chat.taken).toEqual(["1", "2"]);
  });

  test("that is being sent counts among those that wait: it may come back", async () => {
    const chat = platform();
    chat.mood = ({ text }) => (text === "1" ? "hang" : "take");
    using agentFixture = deliveryFixture({ chat });
    await agentFixture.post(say("a", "1"), say("a", "2"));
    expect(chat.asked.map(({ text }) => text)).toEqual(["1"]);
    expect(agentFixture.dispatcher.backlog(keyOfConversation(talk("a")))).toBe(2);
  });

  test("no more than 32 of a channel at a time; one that hangs holds no place of another channel", async () => {
    const other = platform();
    const hung = platform();
    hung.mood = () => "hang";
    using agentFixture = deliveryFixture({
      settings: {
        channels: new Map([
          ["chat", hung],
          ["other", other],
        ]),
      },
    });
    await agentFixture.post(...Array.from({ length: 40 }, (_, n) => say(`a${n}`, `${n}`)));
    expect(hung.asked).toHaveLength(32);
    await agentFixture.post(say("b", "b", { conversation: { channel: "other", id: "b" }, conversationKey: "b" }));
    expect(other.taken).toEqual(["b"]);
  });
});

const read = () => Promise.resolve(new Uint8Array());

describe("a delivery that fails", () => {
  test("holds back those behind it, and no other conversation", async () => {
    using agentFixture = deliveryFixture();
    const { post, chat, clock } = agentFixture;
    chat.mood = failing("a1", down());
    await post(say("a", "a1"), say("a", "a2"), say("b", "b1"));
    expect(chat.taken).toEqual(["b1"]);
    chat.mood = () => "take";
    await clock.advance(1_000);
    await quiet();
    expect(chat.taken).toEqual(["b1", "a1", "a2"]);
  });

  test.each([
    ["all of the jitter", 1, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map((secs) => secs * 1000)],
    ["half of it", 0.5, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map((secs) => secs * 500)],
  ])(
    "is tried 12 times, first after a second at most, then after twice as long, five minutes at most: %s",
    async (_, random, waits) => {
      using agentFixture = deliveryFixture({ random: () => random });
      const { post, chat, clock, row } = agentFixture;
      chat.mood = () => down();
      const [kept] = await post(say("a", "hello"));
      for (const [index, waitMs] of waits.entries()) {
        const attempts = index + 1;
        const notBeforeMs = clock.now() + waitMs;
        expect(row(kept!.n)).toMatchObject({ state: "waiting", attempts, notBeforeMs, error: "REMOTE_UNREACHABLE" });
        await clock.advance(waitMs - 1);
        await quiet();
        expect(chat.asked).toHaveLength(attempts);
        await clock.advance(1);
        await quiet();
        expect(chat.asked).toHaveLength(attempts + 1);
      }
      expect(row(kept!.n)).toMatchObject({ state: "dead", attempts: 12 });
      expect(new Set(chat.asked.map(({ deliveryId }) => deliveryId)).size).toBe(1);
    },
  );

  test.each([
    ["waits as long as the platform asks", 30_000, 0, 30_000],
    ["and a little longer, not at once with all the others", 30_000, 1, 33_000],
    ["a day at most", Number.MAX_SAFE_INTEGER, 0, 86_400_000],
    ["its own time when the platform asks for less", 1, 0.5, 500],
    ["or for nonsense", Number.NaN, 0.5, 500],
  ])("%s", async (_, askedMs, random, waitMs) => {
    using agentFixture = deliveryFixture({ random: () => random });
    const { post, chat, clock, row } = agentFixture;
    chat.mood = () => down(askedMs);
    const [kept] = await post(say("a", "hello"));
    expect(row(kept!.n).notBeforeMs).toBe(clock.now() + waitMs);
    await clock.advance(waitMs - 1);
    await quiet();
    expect(chat.asked).toHaveLength(1);
    await clock.advance(1);
    await quiet();
    expect(chat.asked).toHaveLength(2);
  });

  test("rests as long when the wall clock jumps", async () => {
    using agentFixture = deliveryFixture();
    const { post, chat, clock } = agentFixture;
    chat.mood = () => down();
    await post(say("a", "1"));
    clock.setWallClock(clock.now() - 600_000);
    await clock.advance(1_000);
    await quiet();
    clock.setWallClock(clock.now() + 1_200_000);
    await clock.advance(1_999);
    await quiet();
    expect(chat.asked).toHaveLength(2);
  });

  test.each([
    ["refused at once", refused, 12, "DELIVERY_REFUSED"],
    ["at its last attempt", down(), 1, "REMOTE_UNREACHABLE"],
    ["whose channel throws what it must not", new TypeError("words of the platform"), 1, "DELIVERY_FAILED"],
    ["for its credentials", new SvcError("CHANNEL_UNAUTHORIZED", "words of the platform"), 1, "CHANNEL_UNAUTHORIZED"],
  ])(
    "%s is a dead letter: told and logged without a word of anybody's, and the next one goes",
    async (_, error, maxAttempts, code) => {
      using agentFixture = deliveryFixture({ settings: { maxAttempts } });
      const { post, chat, events, log, row } = agentFixture;
      chat.mood = failing("secret text", error);
      const [dead] = await post(say("a", "secret text", { turnId: "t-1" }), say("a", "next"));
      const messageId = `out-${dead!.n}`;
      expect(row(dead!.n)).toMatchObject({ state: "dead", attempts: 1, error: code });
      const failed = { type: "message-failed", messageId, conversation: talk("a"), turnId: "t-1", code };
      expect(events).toEqual([failed, expect.objectContaining({ type: "message-delivered" })]);
      expect(chat.taken).toEqual(["next"]);
      const fields = { messageId, channel: "chat", code, attempts: 1 };
      expect(log.lines).toContainEqual({ level: "warn", message: "a message could not be delivered", fields });
      expect(log.text()).not.toMatch(/secret text|words of the platform/);
    },
  );

  test("goes back to its place before those that came later", async () => {
    using agentFixture = deliveryFixture({ settings: { maxAttempts: 1 } });
    const { post, chat, store, dispatcher, row } = agentFixture;
    const busy = gate();
    chat.mood = failing("1", refused);
    const [first] = await post(say("a", "1"));
    chat.mood = ({ text }) => (text === "2" ? busy.opened : "take");
    await post(say("a", "2"), say("a", "3"));
    await store.write(() => store.outbox.reopen(first!.n));
    dispatcher.wake([row(first!.n)]);
    busy.open();
    await quiet();
    expect(chat.taken).toEqual(["2", "1", "3"]);
  });
});

describe("a send that never ends", () => {
  test.each(["hang", "deaf"] as const)("is called off after a minute and counts as failed: %s", async (mood) => {
    using agentFixture = deliveryFixture();
    const { post, chat, clock, row } = agentFixture;
    chat.mood = () => mood;
    const [kept] = await post(say("a", "1"));
    await clock.advance(59_999);
    await quiet();
    expect(row(kept!.n).attempts).toBe(0);
    await clock.advance(1);
    await quiet();
    expect(row(kept!.n)).toMatchObject({ state: "waiting", attempts: 1, error: "REMOTE_TIMEOUT" });
    chat.mood = () => "take";
    await clock.advance(1_000);
    await quiet();
    expect(chat.taken).toEqual(["1"]);
  });
});

describe("a channel that is not in service", () => {
  test.each([
    ["is gone from the config", { channels: new Map() }],
    ["is down", { isUp: () => false }],
  ])("%s: its deliveries wait and no attempt is counted; others go", async (_, settings) => {
    const other = platform();
    using agentFixture = deliveryFixture({ settings: { ...settings } });
    const { post, chat, clock, dispatcher, row } = agentFixture;
    const [kept] = await post(say("a", "1"));
    await clock.advance(3_600_000);
    await quiet();
    expect([chat.asked, row(kept!.n).attempts]).toEqual([[], 0]);
    const channels = new Map([
      ["chat", chat],
      ["other", other],
    ]);
    dispatcher.reconfigure(agentFixture.settings({ channels, isUp: (id) => id === "other" }));
    await post(say("b", "b", { conversation: { channel: "other", id: "b" }, conversationKey: "b" }));
    expect([chat.asked, other.taken]).toEqual([[], ["b"]]);
    dispatcher.reconfigure(agentFixture.settings({ channels, isUp: () => true }));
    await quiet();
    expect(chat.taken).toEqual(["1"]);
  });

  test("is looked at every second, and its deliveries go when it is up again", async () => {
    let isUp = false;
    using agentFixture = deliveryFixture({ settings: { isUp: () => isUp } });
    const { post, chat, clock } = agentFixture;
    await post(say("a", "1"));
    await clock.advance(10_000);
    isUp = true;
    await clock.advance(1_000);
    await quiet();
    expect([chat.taken, clock.waiting]).toEqual([["1"], 0]);
  });

  test("whose section was changed is tried at once", async () => {
    using agentFixture = deliveryFixture();
    const { post, chat, dispatcher } = agentFixture;
    chat.mood = () => new SvcError("CHANNEL_UNAUTHORIZED", undefined, { retryAfterMs: 300_000 });
    await post(say("a", "1"));
    dispatcher.reconfigure(agentFixture.settings());
    await quiet();
    expect(chat.asked).toHaveLength(1);
    const again = platform();
    dispatcher.reconfigure(agentFixture.settings({ channels: new Map([["chat", again]]) }));
    await quiet();
    expect(again.taken).toEqual(["1"]);
  });

  test("what it was sending then ends by the old one, which is needed until then and no longer", async () => {
    using agentFixture = deliveryFixture();
    const { post, chat, dispatcher } = agentFixture;
    const busy = gate();
    chat.mood = ({ text }) => (text === "1" ? busy.opened : "take");
    await post(say("a", "1"), say("a", "2"));
    const again = platform();
    again.mood = () => "deaf";
    const told: string[] = [];
    const reconfigured = dispatcher.reconfigure(agentFixture.settings({ channels: new Map([["chat", again]]) }));
    void reconfigured.then(() => told.push("nobody uses it"));
    await post(say("b", "other"));
    await quiet();
    expect([told, again.asked.length]).toEqual([[], 1]);
    busy.open();
    await quiet();
    expect([told, chat.taken]).toEqual([["nobody uses it"], ["1"]]);
    expect(again.asked.map(({ text }) => text)).toEqual(["other", "2"]);
  });

  test("that had nothing under way is needed no longer at once", async () => {
    using agentFixture = deliveryFixture();
    await agentFixture.dispatcher.reconfigure(agentFixture.settings());
    await agentFixture.dispatcher.reconfigure(agentFixture.settings());
    expect(agentFixture.chat.asked).toEqual([]);
  });
});
