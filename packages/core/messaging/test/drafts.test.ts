// An answer that is seen being written: too often, torn, out of order, or with a secret in it.
import { SvcError } from "@svc/contract";
import { DOTS, createRedactor } from "@svc/config";
import { describe, expect, test } from "vitest";
import { act, call, read } from "@svc/agent/agent-fixture";
import { quiet, said } from "./messaging-fixture.ts";
import { draftsFixture } from "./drafts-fixture.ts";

const lost = () => Object.assign(new Error("lost"), { isRetryable: true });

describe("while it is written", () => {
  test("its beginning is posted after an interval, and edited at most once in each that follows", async () => {
    const { made, chat, pen } = draftsFixture();
    using _ = made;
    await made.receive(said("hi", { replyData: { under: 7 } }));
    await pen.say("Hel");
    await made.pass(500);
    await pen.say("lo, ");
    await made.clock.advance(499);
    expect(chat.sent).toEqual([]);
    await made.pass(1);
    const { turnId } = made.row(1);
    expect(chat.sent).toEqual([
      {
        conversation: { channel: "chat", id: "room" },
        text: "Hello,",
        deliveryId: `draft-${turnId}`,
        replyData: { under: 7 },
      },
    ]);
    expect(made.row(1).draft).toBe("chat-1");
    await pen.say("wor");
    await made.clock.advance(999);
    await pen.say("ld");
    expect(chat.edits).toEqual([]);
    await made.pass(1);
    expect(chat.edits).toEqual([
      {
        sent: { conversation: { channel: "chat", id: "room" }, platformId: "chat-1", replyData: { under: 7 } },
        text: "Hello, world",
      },
    ]);
    await made.pass(20_000);
    expect(chat.edits).toHaveLength(1);
    await pen.say("!");
    await pen.end();
    expect([chat.shown, chat.edits.length, made.row(1).state]).toEqual([["Hello, world!"], 2, "done"]);
    expect(made.store.outbox.ofTurn(turnId)).toMatchObject([{ draft: "chat-1", platformId: "chat-1", state: "sent" }]);
    expect(made.events.map(({ type }) => type)).toEqual(["message-received", "message-delivered"]);
    expect(made.clock.waiting).toBe(0);
  });

  test("one that is whole within the first interval is simply sent, and blank text is none", async () => {
    const { made, chat, pen } = draftsFixture();
    using _ = made;
    await made.receive(said("hi"));
    await pen.say(" \n ");
    await made.pass(5_000);
    expect(chat.sent).toEqual([]);
    await pen.say("Quick.");
    await pen.end();
    expect([chat.shown, chat.edits, made.clock.waiting]).toEqual([[" \n Quick."], [], 0]);
  });

  test("ten thousand pieces cost a few edits", async () => {
    const { made, chat, pen } = draftsFixture();
    using _ = made;
    await made.receive(said("hi"));
    for (let n = 0; n < 100; n += 1) {
      for (let piece = 0; piece < 99; piece += 1) void pen.say("x");
      await pen.say("x");
      await made.clock.advance(50);
    }
    await pen.end();
    expect([chat.sent.length, chat.edits.length <= 4]).toEqual([3, true]);
    expect(chat.shown.join("")).toBe("x".repeat(10_000));
  });

  test("there are never two edits at once, and what came meanwhile is told together", async () => {
    const { made, chat, pen } = draftsFixture();
    using _ = made;
    const gates: (() => void)[] = [];
    chat.editMood = () => new Promise((resolve) => gates.push(resolve));
    await made.receive(said("hi"));
    await pen.say("1");
    await made.pass(1_000);
    for (const digit of ["2", "3", "4", "5"]) {
      await pen.say(digit);
      await made.pass(1_000);
    }
    expect([gates.length, chat.shown]).toEqual([1, ["1"]]);
    gates.shift()!();
    await quiet();
    expect(chat.shown).toEqual(["12"]);
    await made.pass(1_000);
    expect(gates).toHaveLength(1);
    gates.shift()!();
    await quiet();
    expect(chat.shown).toEqual(["12345"]);
  });

  test("what is said after a tool call takes the place of what was said before it, and not sooner", async () => {
    const { made, chat, pen } = draftsFixture({ tools: [read] });
    using _ = made;
    await made.receive(said("hi"));
    await pen.say("Let me look.");
    await made.pass(1_000);
    await pen.end(call("read"));
    await made.pass(5_000);
    expect(chat.shown).toEqual(["Let me look."]);
    await pen.say("Found it");
    await made.pass(1_000);
    expect(chat.shown).toEqual(["Found it"]);
    await pen.say(".");
    await pen.end();
    expect([chat.shown, chat.sent.length]).toEqual([["Found it."], 1]);
  });

  test("a model that is asked again begins it anew, and no try is lost to it", async () => {
    const { made, chat, pen } = draftsFixture({ config: { model: { max_retries: 2 } } });
    using _ = made;
    await made.receive(said("hi"));
    for (const words of ["First try", "Second try"]) {
      await pen.say(words);
      await made.pass(1_000);
      expect(chat.shown).toEqual([words]);
      await pen.fail(lost());
      await made.pass(1_000);
    }
    await pen.say("At last.");
    await pen.end();
    expect([chat.shown, made.row(1).attempts, pen.asked.length]).toEqual([["At last."], 0, 3]);
  });

  test("a secret is never in it, in how many pieces it comes", async () => {
    const SECRET = "sk-live-0123456789";
    const { redact, partial: partialSecret } = createRedactor([SECRET]);
    const { made, chat, pen } = draftsFixture({ redact, partialSecret });
    using _ = made;
    await made.receive(said("hi"));
    for (const letter of `it is ${SECRET}, keep it`) {
      await pen.say(letter);
      await made.pass(1_000);
    }
    await pen.end();
    const seen = [...chat.sent, ...chat.edits].map(({ text }) => text);
    expect(seen.length).toBeGreaterThan(10);
    expect(seen.filter((text) => /sk|live|0123/.test(text))).toEqual([]);
    expect(chat.shown).toEqual([`it is ${DOTS}, keep it`]);
  });

  test("what is too long for one message is cut, and in the end goes on behind it", async () => {
    const { made, chat, pen } = draftsFixture();
    using _ = made;
    Object.assign(chat.channel, { text: { maxChars: 30 } });
    await made.receive(said("hi"));
    await pen.say("A first sentence stands here. And a second one.");
    await made.pass(1_000);
    expect(chat.shown).toEqual(["A first sentence stands here …"]);
    await pen.say(" And a third.");
    await made.pass(5_000);
    expect(chat.edits).toEqual([]);
    await pen.end();
    expect(chat.shown).toEqual(["A first sentence stands here.", "And a second one. And a third."]);
  });

  test("it stands behind the answer before it, which the platform does not have yet", async () => {
    const { made, chat, pen } = draftsFixture();
    using _ = made;
    chat.mood = ({ text }) => {
      if (text === "One.") throw new SvcError("DELIVERY_FAILED", undefined, { retryAfterMs: 10_000 });
    };
    await made.receive(said("one"), said("two"));
    await pen.say("One.");
    await pen.end();
    await pen.say("Two");
    await made.pass(5_000);
    expect(chat.shown).toEqual([]);
    chat.mood = () => undefined;
    await made.pass(8_000);
    expect(chat.shown).toEqual(["One.", "Two"]);
    await pen.end();
    expect(chat.shown).toEqual(["One.", "Two"]);
  });

  test("a question to a person is asked beside it", async () => {
    const { made, chat, pen } = draftsFixture({ asks: true, tools: [act], verdict: "ask" });
    using _ = made;
    await made.receive(said("do it"));
    await pen.say("I will.");
    await made.pass(1_000);
    await pen.end(call("act"));
    expect(chat.shown).toEqual(["I will.", "May it? #1"]);
    await made.receive(said("yes"));
    await pen.say("Done.");
    await pen.end();
    expect(chat.shown).toEqual(["Done.", "May it? #1", "approved #1"]);
    expect(chat.sent.map(({ deliveryId }) => deliveryId.startsWith("draft-"))).toEqual([true, false, false]);
  });

  test.each(["👍", "/status", "yes"])("%j has none", async (text) => {
    const { made, chat } = draftsFixture({ asks: true });
    using _ = made;
    await made.receive(said(text, text === "👍" ? { kind: "reaction" } : {}));
    await made.pass(5_000);
    expect([...chat.sent, ...chat.edits].filter(({ text: shown }) => shown === text)).toEqual([]);
    expect(chat.sent.filter(({ deliveryId }) => deliveryId.startsWith("draft-"))).toEqual([]);
  });
});
