// An answer must reach the chat it is meant for, formatted as the platform takes it, below the question in a group, and not be
// lost over formatting, a group that has moved or a picture that is none.
import { inspect } from "node:util";
import type { OutgoingFile } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { ADA, failure, FORUM, GROUP, fixture, fixtureAndPlatform, message, never } from "./fixture.ts";

const PNG = Buffer.from("89504e470d0a1a0a00", "hex");
const WEBP = Buffer.from("52494646000000005745425000", "hex");

const file = (kind: OutgoingFile["kind"], mimeType: string, bytes: Uint8Array, name = "file"): OutgoingFile => ({
  kind,
  name,
  mimeType,
  read: async () => bytes,
});
const inChat = (id: string | number, thread?: string) => ({
  conversation: { channel: "telegram", id: String(id), ...(thread !== undefined && { thread }) },
});

describe("a text", () => {
  test("is formatted, without a preview of its links", async () => {
    await using at = await fixtureAndPlatform();
    const receipt = await at.channel.send(message("**Hello** https://a.example"), never);
    expect(at.platform.sent).toMatchObject([
      { text: "Hello https://a.example", entities: [{ type: "bold", offset: 0, length: 5 }], hasPreview: false },
    ]);
    expect(receipt).toEqual({ platformId: String(at.platform.sent[0]?.messageId) });
    expect(at.platform.requests[0]?.json).toEqual({
      chat_id: Number(ADA),
      text: "<b>Hello</b> https://a.example",
      parse_mode: "HTML",
      link_preview_options: { is_disabled: true },
    });
  });

  test("is sent plain where the platform can't read the formatting", async () => {
    await using at = await fixtureAndPlatform();
    at.platform.failNext("sendMessage", [{ code: 400, description: "Bad Request: can't parse entities: Unsupported" }]);
    await at.channel.send(message("**Hello**"), never);
    expect(at.platform.sent).toMatchObject([{ text: "**Hello**", entities: [] }]);
    expect(at.platform.requests).toHaveLength(2);
  });

  test.each([
    // In columns it would be twice as long as the platform takes.
    ["a table of much room", `| a | b |\n|---|---|\n| ${"x".repeat(3000)} | y |\n| 1 | 2 |`],
    ["of nothing but marks", "```\n```"],
  ])("%s is sent as it is written", async (_what, text) => {
    await using at = await fixtureAndPlatform();
    await at.channel.send(message(text), never);
    expect(at.platform.sent[0]?.text).toBe(text);
  });

  test("in a group replies to the question, in its topic", async () => {
    await using at = await fixtureAndPlatform();
    at.platform.chats.note(FORUM, 77);
    await at.channel.send(message("a", { ...inChat(FORUM.id, "12"), replyData: { messageId: 77 } }), never);
    expect(at.platform.sent).toMatchObject([{ chatId: FORUM.id, threadId: 12, repliesTo: 77 }]);
  });

  test("is sent although the question is gone", async () => {
    await using at = await fixtureAndPlatform();
    await at.channel.send(message("a", { ...inChat(GROUP.id), replyData: { messageId: 4711 } }), never);
    expect(at.platform.sent).toMatchObject([{ chatId: GROUP.id, repliesTo: undefined }]);
  });

  test.each([
    [{ id: `${FORUM.id}/40` }, 40, { id: String(FORUM.id), thread: "40" }],
    [{ id: String(FORUM.id), thread: "1" }, undefined, undefined],
    [{ id: `${FORUM.id}/1` }, undefined, { id: String(FORUM.id) }],
  ])("to %j goes to the topic %s, and is answered there", async (conversation, threadId, opened) => {
    await using at = await fixtureAndPlatform();
    const receipt = await at.channel.send(
      message("a", { conversation: { channel: "telegram", ...conversation } }),
      never,
    );
    expect(at.platform.sent).toMatchObject([{ chatId: FORUM.id, threadId }]);
    expect(receipt.opened).toEqual(opened && { channel: "telegram", ...opened });
  });

  test("to a public group by its name is answered from its number", async () => {
    await using at = await fixtureAndPlatform();
    at.platform.chats.add({ ...GROUP, id: -100_5, username: "Garden_Talk" });
    const { opened } = await at.channel.send(message("a", inChat("@garden_talk")), never);
    expect(opened).toEqual({ channel: "telegram", id: "-1005" });
  });

  test.each(["", "bob", "@b", "0", "-", "1.5", "../1", "12/x", `${"1".repeat(17)}`, "@a b"])(
    "to %j is refused without a request",
    async (id) => {
      await using at = await fixtureAndPlatform();
      expect(await failure(at.channel.send(message("a", inChat(id)), never))).toMatchObject({
        code: "DELIVERY_REFUSED",
      });
      expect(at.platform.requests).toEqual([]);
    },
  );
});

describe("a refusal", () => {
  test.each([
    [403, "Forbidden: bot was blocked by the user", "DELIVERY_REFUSED", "This person has blocked the bot."],
    [
      403,
      "Forbidden: bot was kicked from the group chat",
      "DELIVERY_REFUSED",
      "The bot is not in this group or channel any more.",
    ],
    [403, "Forbidden: something new", "DELIVERY_REFUSED", "The platform answered with status 403."],
    [
      400,
      "Bad Request: chat not found",
      "DELIVERY_REFUSED",
      "The platform knows no such chat, or the bot was never in it.",
    ],
    [400, "Bad Request: TOPIC_CLOSED", "DELIVERY_REFUSED", "This topic is closed."],
    [401, "Unauthorized", "CHANNEL_UNAUTHORIZED", "The platform does not know the bot token."],
    [404, "Not Found", "CHANNEL_UNAUTHORIZED", "The platform does not know the bot token."],
    [500, "Internal Server Error", "DELIVERY_FAILED", "The platform answered with status 500."],
    [502, "Bad Gateway", "DELIVERY_FAILED", "The platform answered with status 502."],
  ])("%s %s is %s", async (code, description, expected, sentence) => {
    await using at = await fixtureAndPlatform();
    at.platform.failNext("*", [{ code, description }]);
    expect(await failure(at.channel.send(message("a"), never))).toMatchObject({ code: expected, message: sentence });
  });

  test("for a while tells how long, by the header where the answer does not", async () => {
    const answered = (json: object, headers: Record<string, string>) => async (url: string) => ({
      status: 429,
      headers,
      bytes: Buffer.from(JSON.stringify({ ok: false, error_code: 429, description: "Too Many Requests", ...json })),
      truncated: false,
      url,
    });
    for (const [json, headers, retryAfterMs] of [
      [{}, { "retry-after": "9" }, 9_000],
      [{ parameters: { retry_after: 5 } }, { "retry-after": "9" }, 5_000],
      [{ parameters: { retry_after: "x" } }, {}, undefined],
    ] as const) {
      const { channel } = fixture({}, { fetch: answered(json, headers) });
      expect(await failure(channel.send(message("a"), never))).toMatchObject({ code: "DELIVERY_FAILED", retryAfterMs });
    }
  });

  test("says nothing of the platform's, nor of what was sent", async () => {
    await using at = await fixtureAndPlatform();
    at.platform.failNext("*", [{ code: 400, description: "Bad Request: canary-7f3a chat not found" }]);
    const error = await failure(at.channel.send(message("private words"), never));
    expect(inspect(error, { depth: 9, showHidden: true })).not.toMatch(/canary|private words|AAHdq/);
  });
});

describe("a group that becomes a supergroup", () => {
  test("goes on being written to, also by the next process, and tells where it is answered", async () => {
    await using at = await fixtureAndPlatform();
    at.platform.chats.add({ id: -42, type: "group", title: "Old" });
    at.platform.chats.migrate(-42, -100_42);
    const { opened } = await at.channel.send(message("a", inChat(-42)), never);
    expect(opened).toEqual({ channel: "telegram", id: "-10042" });
    expect(at.platform.requests).toHaveLength(2);
    await at.channel.send(message("b", inChat(-42)), never);
    expect(at.platform.requests).toHaveLength(3);

    const { state } = at.context;
    await using next = await fixtureAndPlatform({ api_url: at.platform.apiUrl }, { given: { state } });
    await next.channel.send(message("c", inChat(-42)), never);
    expect(at.platform.requests).toHaveLength(4);
    expect(at.platform.sent.map(({ chatId, text }) => [chatId, text])).toEqual([
      [-100_42, "a"],
      [-100_42, "b"],
      [-100_42, "c"],
    ]);
  });
});

describe("a file", () => {
  test.each<[string, OutgoingFile, string]>([
    ["a picture", file("image", "image/png", PNG), "photo"],
    ["a moving picture", file("image", "image/gif", Buffer.from("GIF89a..")), "animation"],
    ["a picture of another kind", file("image", "image/svg+xml", Buffer.from("<svg/>")), "document"],
    [
      "a picture that is too large to be shown",
      file("image", "image/png", Buffer.concat([PNG, Buffer.alloc(10_000_000)])),
      "document",
    ],
    ["a picture that is none", file("image", "image/png", Buffer.from("no")), "document"],
    ["a voice message", file("audio", "audio/ogg", Buffer.from("OggS")), "voice"],
    ["music", file("audio", "audio/mpeg", Buffer.from("ID3")), "audio"],
    ["a sound of another kind", file("audio", "audio/wav", Buffer.from("RIFF")), "document"],
    ["a film", file("video", "video/mp4", Buffer.from("ftyp")), "video"],
    ["a film of another kind", file("video", "video/x-matroska", Buffer.from("mkv")), "document"],
    ["a sticker", file("sticker", "image/webp", WEBP), "sticker"],
    ["a sticker that is none", file("sticker", "image/webp", Buffer.from("no")), "document"],
    ["a document", file("document", "image/png", PNG), "document"],
  ])("%s is sent by the method that shows it", async (_what, one, kind) => {
    await using at = await fixtureAndPlatform();
    const receipt = await at.channel.send(message("", { files: [one] }), never);
    expect(at.platform.sent.map((sent) => sent.file?.kind)).toEqual([kind]);
    expect(at.platform.sent[0]?.file?.bytes.equals(await one.read())).toBe(true);
    expect(receipt.platformId).toBe(String(at.platform.sent[0]?.messageId));
  });

  test("keeps its name, whatever that is", async () => {
    await using at = await fixtureAndPlatform();
    for (const name of ['a "b"; name=chat_id\\.txt', "Übung 1.pdf", "x\r\ny"]) {
      const deliveryId = `delivery of ${name}`;
      await at.channel.send(message("", { files: [file("document", "text/plain", PNG, name)], deliveryId }), never);
    }
    expect(at.platform.sent.map((sent) => sent.file?.name)).toEqual([
      "a _b_; name=chat_id_.txt",
      "Übung 1.pdf",
      "x__y",
    ]);
  });

  test("and a text are one message, if the text fits below it", async () => {
    await using at = await fixtureAndPlatform();
    const files = [file("image", "image/png", PNG)];
    const reply = { ...inChat(GROUP.id), replyData: { messageId: 77 } };
    at.platform.chats.note(GROUP, 77);
    await at.channel.send(message("*a*", { files, ...reply }), never);
    await at.channel.send(message("b".repeat(1025), { files, deliveryId: "2" }), never);
    await at.channel.send(message("c", { files: [file("sticker", "image/webp", WEBP)], deliveryId: "3" }), never);
    expect(at.platform.sent.map(({ text, file: one, repliesTo }) => [text.slice(0, 2), one?.kind, repliesTo])).toEqual([
      ["a", "photo", 77],
      ["bb", undefined, undefined],
      ["", "photo", undefined],
      ["c", undefined, undefined],
      ["", "sticker", undefined],
    ]);
  });

  test("whose caption can't be read has a plain one, and as a document too", async () => {
    await using at = await fixtureAndPlatform();
    at.platform.failNext("sendPhoto", [{ code: 400, description: "Bad Request: can't parse entities" }]);
    await at.channel.send(message("**a**", { files: [file("image", "image/png", Buffer.from("no"))] }), never);
    expect(at.platform.sent).toMatchObject([{ text: "a", file: { kind: "document" } }]);
  });

  test.each([
    ["empty", Buffer.alloc(0), /empty/],
    ["too large", Buffer.alloc(50_000_001), /50 MB/],
  ])("that is %s is refused before anything is sent", async (_what, bytes, sentence) => {
    await using at = await fixtureAndPlatform();
    const sending = at.channel.send(message("a", { files: [file("document", "text/plain", bytes)] }), never);
    expect(await failure(sending)).toMatchObject({
      code: "DELIVERY_REFUSED",
      message: expect.stringMatching(sentence),
    });
    expect(at.platform.requests).toEqual([]);
  });

  test("that fails is sent by the next try, and what was before it is not sent again", async () => {
    await using at = await fixtureAndPlatform();
    const files = [file("image", "image/png", PNG), file("document", "text/plain", Buffer.from("x"))];
    at.platform.failNext("sendDocument", [{ code: 502, description: "Bad Gateway" }]);
    const sending = message("Both", { files });
    expect(await failure(at.channel.send(sending, never))).toMatchObject({ code: "DELIVERY_FAILED" });
    const receipt = await at.channel.send(sending, never);
    expect(at.platform.sent.map(({ text, file: one }) => one?.kind ?? text)).toEqual(["Both", "photo", "document"]);
    expect(receipt.platformId).toBe(String(at.platform.sent[0]?.messageId));
  });
});
