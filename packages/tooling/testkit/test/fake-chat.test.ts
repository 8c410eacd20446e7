// The chat that tests of approvals stand on: what it took is seen, what people say reaches whoever made the feature.
import type { OutgoingMessage, Prompt } from "@svc/contract";
import { expect, test } from "vitest";
import { fakeChat } from "../src/fake-chat.ts";
import { fakeFeatureContext } from "../src/feature-context.ts";

const signal = new AbortController().signal;
const prompt: Prompt = { id: "ap-1", title: "Go?", message: "", approve: "Approve", reject: "Reject" };
const message: OutgoingMessage = { conversation: { channel: "chat", id: "ops" }, text: "Go?", deliveryId: "d" };

const made = async (chat: ReturnType<typeof fakeChat>) => {
  const context = fakeFeatureContext({ approvers: [] });
  const { channel } = (await chat.definition.load()).create(context as never);
  return { context, channel: channel! };
};

test("without buttons a question can only be sent, and a word answers it", async () => {
  const chat = fakeChat("chat");
  const { channel, context } = await made(chat);
  expect(channel.prompts).toBeUndefined();
  expect(await channel.send(message, signal)).toEqual({ platformId: "chat-1" });
  expect([chat.sent, await chat.say("yes", { sender: "bob" })]).toEqual([[message], ["kept"]]);
  expect(context.received).toMatchObject([{ text: "yes", sender: "bob", conversation: { channel: "chat" } }]);
  await expect(chat.press(true)).rejects.toThrow("no question");
});

test("with buttons a press answers the question, in its conversation; closing is seen", async () => {
  const chat = fakeChat("chat", { buttons: true, threads: true });
  const { channel, context } = await made(chat);
  const receipt = await channel.prompts!.post(message, prompt, signal);
  expect(receipt).toMatchObject({ platformId: "chat-question-1", opened: { id: "ops", thread: "ap-1" } });
  await chat.press(false);
  await chat.press(true);
  const answers = context.received.map(({ choice, text }) => [choice?.prompt, choice?.approved, text]);
  expect(answers).toEqual([
    ["ap-1", false, "Reject"],
    ["ap-1", true, "Approve"],
  ]);
  const posted = { conversation: message.conversation, platformId: receipt.platformId, text: "Go?" };
  await channel.prompts!.close!(posted, "approved", signal);
  expect([chat.sent, chat.closed]).toEqual([[], [{ posted, outcome: "approved" }]]);
});

test("a platform that is down takes nothing", async () => {
  const chat = fakeChat("chat");
  const { channel } = await made(chat);
  chat.mood = () => Promise.reject(new Error("down"));
  await expect(channel.send(message, signal)).rejects.toThrow("down");
  expect(chat.sent).toEqual([]);
});

test("with drafts a message that was sent can be edited, and what people read is its newest text", async () => {
  const chat = fakeChat("chat", { drafts: { mode: "partial", intervalMs: 700 } });
  const { channel } = await made(chat);
  expect([channel.drafts!.mode, channel.drafts!.intervalMs(message.conversation)]).toEqual(["partial", 700]);
  const { platformId } = await channel.send(message, signal);
  await channel.send({ ...message, text: "second" }, signal);
  const sent = { conversation: message.conversation, platformId: platformId! };
  await channel.drafts!.edit(sent, "Gone!", signal);
  expect([chat.shown, chat.edits]).toEqual([["Gone!", "second"], [{ sent, text: "Gone!" }]]);
  const unknown = channel.drafts!.edit({ ...sent, platformId: "chat-9" }, "?", signal);
  await expect(unknown).rejects.toMatchObject({ code: "DELIVERY_REFUSED" });
  chat.editMood = () => Promise.reject(new Error("down"));
  await expect(channel.drafts!.edit(sent, "?", signal)).rejects.toThrow("down");
  expect(chat.shown).toEqual(["Gone!", "second"]);
});

test("without them it has none", async () => {
  const { channel } = await made(fakeChat("chat"));
  expect(channel.drafts).toBeUndefined();
});
