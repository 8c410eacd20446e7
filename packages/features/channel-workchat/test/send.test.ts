// What goes out: where to, in how many cards, once; drafts, questions, files and acknowledgements.
import type { OutgoingFile } from "@svc/contract";
import { seenMarkdown } from "@svc/testkit/platforms/workchat/card";
import { workchatId } from "@svc/testkit/platforms/workchat/events";
import { expect, test } from "vitest";
import { cardsOf, TEXT_CHARS } from "../src/cards.ts";
import { languages, localeOf, reactionFor } from "../src/language.ts";
import { cardMarkdown } from "../src/markdown.ts";
import { DM, failure, message, never, NOW_MS, PERSON, withPlatform } from "./fixture.ts";

const GROUP = workchatId("oc", "group");
const PROMPT = { id: "ap-1", title: "Go?", message: "now", approve: "Approve", reject: "Reject" };

test("a message to a person opens the chat, and tells which it is", async () => {
  await using made = await withPlatform();
  const receipt = await made.channel.send(message("hi", { conversation: { channel: "workchat", id: PERSON } }), never);
  expect(receipt).toMatchObject({
    opened: { channel: "workchat", id: DM },
    platformId: expect.stringMatching(/^om_/) as string,
  });
  const nowhere = { conversation: { channel: "workchat", id: "../chats" } };
  expect(await failure(made.channel.send(message("hi", nowhere), never))).toMatchObject({ code: "DELIVERY_REFUSED" });
});

test("in a group an answer replies to the message, in a thread it stays there", async () => {
  await using made = await withPlatform();
  const { channel, workchat } = made;
  workchat.addGroup(GROUP);
  const id = workchat.write({ id: "1", from: PERSON, text: "x", atMs: NOW_MS, chat: GROUP });
  const conversation = { channel: "workchat", id: GROUP };
  await channel.send(message("one", { conversation, deliveryId: "a", replyData: { messageId: id } }), never);
  await channel.send(message("two", { conversation, deliveryId: "b" }), never);
  await channel.send(message("three", { conversation: { ...conversation, thread: id }, deliveryId: "c" }), never);
  expect(workchat.sent).toMatchObject([
    { text: "one", replyTo: id, inThread: false },
    { text: "two", inThread: false },
    { text: "three", replyTo: id, inThread: true },
  ]);
  expect(workchat.sent[1]).not.toHaveProperty("replyTo");
});

test("a text that has no room in one card goes out in several, cut at a paragraph, each at most 28 kB", async () => {
  const paragraph = "[[x".repeat(1_000);
  const text = Array.from({ length: 6 }, () => paragraph)
    .join("\n\n")
    .slice(0, TEXT_CHARS);
  const cards = await cardsOf(text);
  expect(cards.length).toBeGreaterThan(1);
  for (const card of cards) expect(Buffer.byteLength(card)).toBeLessThanOrEqual(28_000);
  const said = cards.map((card) =>
    seenMarkdown((JSON.parse(card) as { body: { elements: { content: string }[] } }).body.elements[0]!.content),
  );
  expect(said.join("\n\n").replaceAll(/\s/g, "")).toBe(text.replaceAll(/\s/g, ""));
  expect(said[0]!.endsWith(paragraph)).toBe(true);
  expect(await cardsOf("x".repeat(TEXT_CHARS))).toHaveLength(1);
});

test("a draft is changed in its card; one that has grown too large is sent anew", async () => {
  await using made = await withPlatform();
  const { channel, workchat } = made;
  const { platformId } = await channel.send(message("Be"), never);
  const sent = { conversation: message("").conversation, platformId: platformId! };
  await channel.drafts.edit(sent, "Begun **well**", never);
  expect(workchat.sent).toMatchObject([{ text: "Begun well" }]);
  expect(await failure(channel.drafts.edit(sent, "[".repeat(TEXT_CHARS), never))).toMatchObject({
    code: "DELIVERY_REFUSED",
  });
  expect(channel.drafts.intervalMs(sent.conversation)).toBe(1_000);
});

test("a question in a thread hands the thread back with its press; a reply to it is heard without a mention", async () => {
  await using made = await withPlatform({ receive_mode: "webhook" });
  const { channel, workchat, ingress } = made;
  workchat.addGroup(GROUP);
  const root = workchat.write({ id: "1", from: PERSON, text: "x", atMs: NOW_MS, chat: GROUP });
  const conversation = { channel: "workchat", id: GROUP, thread: root };
  const { platformId } = await channel.prompts.post(message("Go?", { conversation }), PROMPT, never);
  expect(workchat.sent).toMatchObject([{ inThread: true, values: [{ thread: root }, { thread: root }] }]);
  expect(await made.context.state.get("questions")).toBe(JSON.stringify([platformId]));
  expect(ingress).toHaveLength(1);
});

const file = (
  kind: OutgoingFile["kind"],
  name: string,
  mimeType: string,
  bytes: Uint8Array = Buffer.from("bytes"),
): OutgoingFile => ({
  kind,
  name,
  mimeType,
  read: async () => bytes,
});

test("files go out as what the platform plays: images, Opus, MP4, and everything else to open", async () => {
  await using made = await withPlatform();
  const files = [
    file("image", "a.png", "image/png"),
    file("audio", "a.ogg", "audio/ogg"),
    file("audio", "a.mp3", "audio/mpeg"),
    file("video", "a.mp4", "video/mp4"),
    file("document", "a.docx", "application/x"),
    file("image", "a.svg", "image/svg+xml"),
  ];
  await made.channel.send(message("see", { files }), never);
  expect(made.workchat.sent.map(({ type }) => type)).toEqual([
    "interactive",
    "image",
    "audio",
    "file",
    "media",
    "file",
    "file",
  ]);
});

test("a retry goes on where the last try stopped", async () => {
  await using made = await withPlatform();
  const { channel, workchat } = made;
  let posts = 0;
  workchat.mood = ({ path }) => (path.endsWith("/messages") && (posts += 1) === 2 ? "resets" : "takes");
  const sending = message("see", {
    files: [file("image", "a.png", "image/png"), file("document", "b.txt", "text/plain")],
  });
  expect(await failure(channel.send(sending, never))).toMatchObject({ code: "REMOTE_UNREACHABLE" });
  await channel.send(sending, never);
  expect(workchat.sent.map(({ type }) => type)).toEqual(["interactive", "image", "file"]);
});

test("an empty file is refused before anything is to be seen", async () => {
  await using made = await withPlatform();
  const sending = message("see", { files: [file("image", "a.png", "image/png", new Uint8Array())] });
  expect(await failure(made.channel.send(sending, never))).toMatchObject({ code: "DELIVERY_REFUSED" });
  expect(made.workchat.sent).toEqual([]);
});

test("no text calls anybody or draws anything: tags, entities and emoji codes are words", () => {
  for (const text of [
    "<at id=all></at> and <AT user_id='x'>",
    "`<at id=all></at>`",
    "```\n<at id=all></at>\n```",
    "| <at id=all> | b |\n|---|---|\n| <font color=red>x</font> | y |",
    "&lt;at id=all&gt;",
    "[<at id=all>](https://example.org/)",
    "> <at id=all>",
    "- <at id=all>",
    "# <at id=all>",
  ]) {
    const made = cardMarkdown(text);
    expect(made).not.toMatch(/<\/?[a-z]/i);
    expect(() => seenMarkdown(made)).not.toThrow();
  }
  expect(cardMarkdown(":DONE: &amp;lt; 1. x")).toBe("&#58;DONE: &#38;lt; 1. x");
  expect(
    seenMarkdown(cardMarkdown("# A *b*\n\n- one\n- [x] two\n\n1. three\n\n> q\n\n[l](https://x.test/) ~~s~~ `c<d`")),
  ).toBe("A b\n\none\ntwo\n\n1. three\n\nq\n\nl (https://x.test/) s c<d");
});

test("the language of a message decides on the reaction, else the sender's", () => {
  expect(
    ["你好，请问这个问题怎么办", "請問這個問題怎麼辦", "これは何ですか", "How are you?", "Grüße", "👍 123", "你好"].map(
      localeOf,
    ),
  ).toEqual(["zh-CN", "zh-TW", "ja", "en", "en", undefined, undefined]);
  const heard = languages("en");
  heard.heard("om_1", "ou_1", "這個");
  heard.heard("om_2", "ou_1", "👍");
  heard.heard("om_3", "ou_2", "👍");
  heard.heard("om_4", "ou_2", "你好");
  expect(["om_1", "om_2", "om_3", "om_4", "om_5"].map((id) => heard.of(id))).toEqual([
    "zh-TW",
    "zh-TW",
    "en",
    "zh-CN",
    "en",
  ]);
  expect(reactionFor("ja", "om_1")).toBe(reactionFor("ja", "om_1"));
});

test.each<[string | undefined, RegExp]>([
  [undefined, / (?:OK|THUMBSUP|THANKS|MUSCLE|FINGERHEART|APPLAUSE|SMILE|DONE)$/],
  ["Typing", / Typing$/],
])("a message is acknowledged with a reaction: %s", async (reaction, expected) => {
  await using made = await withPlatform({ ack_reaction: reaction });
  const id = made.workchat.write({ id: "1", from: PERSON, text: "x", atMs: NOW_MS });
  await made.channel.readMarks.mark(message("").conversation, id, never);
  await made.channel.readMarks.mark(message("").conversation, "press:1", never);
  expect(made.workchat.reactions).toEqual([expect.stringMatching(expected)]);
  expect(made.workchat.reactionsTakenBack).toEqual([]);
  for (const one of [id, id, "press:1"]) await made.channel.readMarks.clear!(message("").conversation, one, never);
  expect(made.workchat.reactionsTakenBack).toEqual(made.workchat.reactions);
});

test("a blank reaction is none", async () => {
  await using made = await withPlatform({ ack_reaction: "" });
  expect(made.channel.readMarks).toBeUndefined();
});
