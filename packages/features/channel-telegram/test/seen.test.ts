// What people see beside answers: questions with buttons, answers that grow, a reaction on what is being answered.
import type { Prompt } from "@svc/contract";
import { telegramMessage } from "@svc/testkit/platforms/telegram/update";
import { describe, expect, test } from "vitest";
import { ADA, failure, FORUM, GROUP, fixtureAndPlatform, message, never, NOW_MS } from "./fixture.ts";

const PROMPT: Prompt = { id: "ap-12", title: "Deploy?", message: "Now.", approve: "Approve", reject: "Reject" };
const WORDS = "Approval needed (#12): Deploy <v2> & *go*?\nAnswer: approve #12";
const inTopic = { channel: "telegram", id: String(FORUM.id), thread: "12" };

describe("a question", () => {
  test("is asked in its topic, below what it is about, in words that no formatting hides", async () => {
    await using at = await fixtureAndPlatform();
    at.platform.chats.note(FORUM, 77);
    const asking = message(WORDS, { conversation: inTopic, replyData: { messageId: 77 } });
    const receipt = await at.channel.prompts.post(asking, PROMPT, never);
    expect(at.platform.sent).toMatchObject([
      {
        chatId: FORUM.id,
        threadId: 12,
        repliesTo: 77,
        text: WORDS,
        entities: [],
        buttons: ["Approve", "Reject"],
        callbackData: ["p:ap-12:y", "p:ap-12:n"],
      },
    ]);
    expect(receipt).toEqual({ platformId: String(at.platform.sent[0]?.messageId) });
  });

  test("of the longest id has buttons that the platform takes", async () => {
    await using at = await fixtureAndPlatform();
    await at.channel.prompts.post(message(WORDS), { ...PROMPT, id: "a".repeat(32) }, never);
    expect(at.platform.sent[0]?.buttons).toEqual(["Approve", "Reject"]);
  });

  test.each([
    ["a label of 65", { approve: "a".repeat(65) }],
    ["a blank label", { reject: " " }],
  ])("with %s is asked in words", async (_what, more) => {
    await using at = await fixtureAndPlatform();
    await at.channel.prompts.post(message("Deploy?"), { ...PROMPT, ...more }, never);
    expect(at.platform.sent).toMatchObject([{ text: "Deploy?", buttons: [] }]);
  });

  test.each([
    ["short", "Deploy?", "Deploy?\n\nApproved by Ada."],
    ["as long as may be", "x".repeat(4096), `${"x".repeat(4077)}…\n\nApproved by Ada.`],
  ])("that is over, %s, says how it ended, and has no buttons", async (_what, text, expected) => {
    await using at = await fixtureAndPlatform();
    const { platformId } = await at.channel.prompts.post(message(text), PROMPT, never);
    const posted = { conversation: message("").conversation, platformId, text };
    await at.channel.prompts.close?.(posted, "Approved by Ada.", never);
    // Twice is once.
    await at.channel.prompts.close?.(posted, "Approved by Ada.", never);
    expect(at.platform.sent).toMatchObject([{ text: expected, buttons: [] }]);
  });
});

describe("an answer that grows", () => {
  test("is edited, formatted, and the same text once more is no error", async () => {
    await using at = await fixtureAndPlatform();
    const { conversation } = message("");
    const { platformId = "" } = await at.channel.send(message("An"), never);
    for (const text of ["An **ans", "An **answer**", "An **answer**", "An <b>answer</b>"]) {
      await at.channel.drafts.edit({ conversation, platformId }, text, never);
    }
    expect(at.platform.sent).toMatchObject([{ text: "An <b>answer</b>", edits: 3 }]);
    at.platform.failNext("editMessageText", [{ code: 400, description: "Bad Request: can't parse entities" }]);
    await at.channel.drafts.edit({ conversation, platformId }, "**plain**", never);
    expect(at.platform.sent[0]?.text).toBe("**plain**");
  });

  test("may break off in the middle of a character", async () => {
    await using at = await fixtureAndPlatform();
    const { conversation } = message("");
    const half = "An \uD83D";
    const { platformId = "" } = await at.channel.send(message(half), never);
    await at.channel.drafts.edit({ conversation, platformId }, `${half}\uDE00 \uD83D`, never);
    expect(at.platform.sent).toMatchObject([{ text: "An 😀 \uFFFD" }]);
  });

  test("that is gone is refused, so that it is sent anew", async () => {
    await using at = await fixtureAndPlatform();
    const { conversation } = message("");
    const { platformId = "" } = await at.channel.send(message("An"), never);
    at.platform.chats.remove(Number(ADA), Number(platformId));
    const edit = at.channel.drafts.edit({ conversation, platformId }, "more", never);
    expect(await failure(edit)).toMatchObject({ code: "DELIVERY_REFUSED" });
  });

  test("is edited once a second to a person, less often to a group, and never more often than the config says", async () => {
    const group = { channel: "telegram", id: String(GROUP.id) };
    const { conversation } = message("");
    for (const [ms, toPerson, toGroup] of [
      [1_000, 1_000, 5_000],
      [9_000, 9_000, 9_000],
    ]) {
      await using at = await fixtureAndPlatform({ draft_update_interval_ms: ms });
      expect(at.channel.drafts.intervalMs(conversation)).toBe(toPerson);
      expect(at.channel.drafts.intervalMs(group)).toBe(toGroup);
    }
  });
});

describe("signs", () => {
  test("a reaction marks what is answered, and goes with the answer", async () => {
    await using at = await fixtureAndPlatform({ ack_reaction: "✍️" });
    const { message: written } = { message: telegramMessage({ id: "1", text: "x", from: ADA, atMs: NOW_MS }) };
    at.platform.push({ message: written });
    const { conversation } = message("");
    const id = `123456789:${ADA}:${written["message_id"]}`;
    await at.channel.readMarks.mark(conversation, id, never);
    await at.channel.readMarks.clear?.(conversation, id, never);
    const messageId = written["message_id"];
    expect(at.platform.done.reactions).toEqual([
      { chatId: Number(ADA), messageId, emoji: ["✍"] },
      { chatId: Number(ADA), messageId, emoji: [] },
    ]);
    await at.channel.readMarks.mark(conversation, "123456789:press:4382", never);
    expect(at.platform.requests).toHaveLength(2);
  });

  test("without a reaction in the config there is none", async () => {
    await using at = await fixtureAndPlatform({ ack_reaction: " " });
    expect(at.channel.readMarks).toBeUndefined();
  });

  test("somebody writes, in the topic", async () => {
    await using at = await fixtureAndPlatform();
    await at.channel.typing.start(inTopic, undefined, never);
    await at.channel.typing.start(message("").conversation, "1", never);
    expect(at.platform.done.actions).toEqual([
      { chatId: FORUM.id, threadId: 12, action: "typing" },
      { chatId: Number(ADA), threadId: undefined, action: "typing" },
    ]);
    expect(at.channel.typing.lastsMs).toBe(5_000);
  });
});
