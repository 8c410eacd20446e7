// Sending: into an existing chat, into a new one if it is gone, once despite lost answers, with files; the platform's
// refusals.
import type { OutgoingFile, OutgoingMessage, SvcError } from "@svc/contract";
import { type ProviderB, startProviderB } from "@svc/testkit/platforms/provider-b/server";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { LINE, never, open, type Opened, TOKEN } from "./open-channel.ts";

const SENDER = "+12025550123";

let platform: ProviderB;
let channel: Opened["channel"];
let chat: string;
beforeEach(async () => {
  platform = await startProviderB({ token: TOKEN, lines: [LINE] });
  channel = open({ api_url: platform.apiUrl }).channel;
  chat = platform.openChat([SENDER]);
});
afterEach(() => platform.close());

const message = (changes: Partial<OutgoingMessage> = {}): OutgoingMessage => ({
  conversation: { channel: "provider_b", id: chat },
  text: "Hello",
  deliveryId: "delivery-1",
  replyData: { to: SENDER },
  ...changes,
});
const gone = { channel: "provider_b", id: "8f392755-6865-4b18-880a-227f9d8b458f" };
const file = (changes: Partial<OutgoingFile> = {}): OutgoingFile => ({
  kind: "image",
  name: "plan.png",
  mimeType: "image/png",
  read: () => Promise.resolve(Buffer.from("picture")),
  ...changes,
});
const failure = (changes: Partial<OutgoingMessage> = {}) =>
  channel.send(message(changes), never).then(
    () => expect.unreachable("it was sent"),
    (error: SvcError) => error,
  );

test("sends a reply into its chat, with the delivery's id as idempotency key", async () => {
  const receipt = await channel.send(message(), never);
  expect(platform.sent).toEqual([
    { messageId: receipt.platformId, chatId: chat, text: "Hello", files: [], idempotencyKey: "delivery-1" },
  ]);
});

test("the receipt of a message to a number names the chat that it opened", async () => {
  const conversation = { channel: "provider_b", id: "+12025550124" };
  const { opened } = await channel.send(message({ conversation }), never);
  expect(opened).toEqual({ channel: "provider_b", id: platform.sent[0]?.chatId });
  expect(await channel.send(message({ conversation: opened!, deliveryId: "delivery-2" }), never)).not.toHaveProperty(
    "opened",
  );
});

test.each(["..", ".", "../../attachments?x=#", "\ud800"])(
  "the chat id %j can't lead to another path of the API",
  async (id) => {
    expect(await failure({ conversation: { channel: "provider_b", id }, replyData: {} })).toMatchObject({
      code: "DELIVERY_REFUSED",
    });
    for (const { path } of platform.requests) expect(path).toMatch(/\/chats\/[^/]+\/messages$/);
  },
);

describe("a chat that is gone", () => {
  test("is replaced by a new one from our line with the sender", async () => {
    const receipt = await channel.send(message({ conversation: gone }), never);
    expect(platform.requests.map(({ path }) => path.split("/v3")[1])).toEqual([`/chats/${gone.id}/messages`, "/chats"]);
    expect(platform.requests[1]?.json).toMatchObject({ from: LINE, to: [SENDER] });
    expect(platform.sent).toMatchObject([{ messageId: receipt.platformId, text: "Hello" }]);
  });

  test("is not replaced if it was a group", async () => {
    for (const replyData of [undefined, null, {}, { to: 7 }] as const) {
      const { replyData: _, ...bare } = message({ conversation: gone });
      const sending = channel.send({ ...bare, ...(replyData !== undefined && { replyData }) }, never);
      await expect(sending).rejects.toMatchObject({ code: "DELIVERY_REFUSED" });
    }
    expect(platform.sent).toEqual([]);
  });

  test("is not replaced after a 404 with another error code", async () => {
    for (const [code, expected] of [
      [2002, "DELIVERY_REFUSED"],
      [2003, "DELIVERY_REFUSED"],
      [2007, "DELIVERY_FAILED"],
    ] as const) {
      const urls: string[] = [];
      const bytes = Buffer.from(JSON.stringify({ success: false, error: { status: 404, code } }));
      const { channel: against } = open({}, async (url) => {
        urls.push(url);
        return { status: 404, headers: {}, bytes, truncated: false, url };
      });
      await expect(against.send(message(), never)).rejects.toMatchObject({ code: expected });
      expect(urls).toHaveLength(1);
    }
  });
});

test.each([SENDER, "ann@example.com"])("a message to the handle %s starts a chat", async (id) => {
  await channel.send(message({ conversation: { channel: "provider_b", id } }), never);
  expect(platform.requests.map(({ path }) => path.split("/v3")[1])).toEqual(["/chats"]);
});

test("a chat id with `..` can't lead to another path of the API", async () => {
  const conversation = { channel: "provider_b", id: "../phone_numbers?x=#" };
  await expect(failure({ conversation })).resolves.toMatchObject({ code: "DELIVERY_REFUSED" });
  expect(platform.requests[0]?.path).toMatch(/\/chats\/[^/]+\/messages$/);
});

test("a message that is retried after lost answers arrives once", async () => {
  platform.mood = "loses answers";
  for (let i = 0; i < 3; i += 1) await expect(failure()).resolves.toMatchObject({ code: "REMOTE_UNREACHABLE" });
  platform.mood = "takes";
  const receipt = await channel.send(message(), never);
  expect(platform.sent).toHaveLength(1);
  expect(receipt.platformId).toBe(platform.sent[0]?.messageId);
});

describe("files", () => {
  test("are uploaded first, then sent in one message with the text; the file store gets no token", async () => {
    const pdf = file({ kind: "document", name: "offer.pdf", mimeType: "application/pdf" });
    await channel.send(message({ files: [file(), pdf] }), never);
    expect(platform.sent).toMatchObject([
      {
        text: "Hello",
        files: [
          { name: "plan.png", mimeType: "image/png", bytes: Buffer.from("picture") },
          { name: "offer.pdf", mimeType: "application/pdf" },
        ],
      },
    ]);
    const puts = platform.requests.filter(({ method }) => method === "PUT");
    expect(puts.map(({ headers }) => headers["authorization"])).toEqual([undefined, undefined]);
  });

  test("may be sent without text", async () => {
    await channel.send(message({ text: " ", files: [file()] }), never);
    expect(platform.sent).toMatchObject([{ text: "", files: [{ name: "plan.png" }] }]);
  });

  test("that the platform refuses, or that can't be read, end the delivery", async () => {
    const programs = file({ name: "a.exe", mimeType: "application/x-msdownload" });
    expect(await failure({ files: [programs] })).toMatchObject({ code: "DELIVERY_REFUSED" });
    const unread = new Error("gone");
    const missing = file({ read: () => Promise.reject(unread) });
    expect(await failure({ files: [missing] })).toBe(unread);
    expect(platform.sent).toEqual([]);
  });

  test("that the file store refuses are retried, with a new upload address", async () => {
    platform.mood = (request) => (request.method === "PUT" ? { refuses: 403 } : "takes");
    expect(await failure({ files: [file()] })).toMatchObject({ code: "DELIVERY_FAILED" });
    expect(platform.sent).toEqual([]);
  });

  test.each(["{}", "[]", "null", '{"attachment_id":"","upload_url":"x"}', "no"])(
    "are retried if the answer has no upload address: %j",
    async (text) => {
      const { channel: against } = open({}, async (url) => ({
        status: 200,
        headers: {},
        bytes: Buffer.from(text),
        truncated: false,
        url,
      }));
      await expect(against.send(message({ files: [file()] }), never)).rejects.toMatchObject({
        code: "DELIVERY_FAILED",
      });
    },
  );
});

describe("a refusal", () => {
  const answering = (status: number, code?: number) => {
    const bytes = Buffer.from(JSON.stringify(code === undefined ? "no" : { error: { status, code } }));
    return open({}, async (url) => ({ status, headers: {}, bytes, truncated: false, url })).channel;
  };

  test.each([
    [400, 1004, "DELIVERY_REFUSED"],
    [401, 2004, "CHANNEL_UNAUTHORIZED"],
    [403, 2005, "DELIVERY_REFUSED"],
    [403, 2006, "CHANNEL_UNAUTHORIZED"],
    [403, 2008, "DELIVERY_REFUSED"],
    [403, 2011, "DELIVERY_REFUSED"],
    [403, 2024, "DELIVERY_REFUSED"],
    [403, undefined, "CHANNEL_UNAUTHORIZED"],
    [409, 2009, "DELIVERY_FAILED"],
    [409, 2013, "DELIVERY_REFUSED"],
    [409, 2016, "DELIVERY_REFUSED"],
    [422, 4005, "DELIVERY_REFUSED"],
    [500, 3006, "DELIVERY_FAILED"],
    [503, 4004, "DELIVERY_FAILED"],
  ] as const)("with status %d and code %s is %s", async (status, code, expected) => {
    await expect(answering(status, code).send(message(), never)).rejects.toMatchObject({ code: expected });
  });

  test("because the recipient opted out ends the delivery, and the channel goes on", async () => {
    platform.optOut(SENDER);
    expect(await failure()).toMatchObject({ code: "DELIVERY_REFUSED" });
  });

  test("because of a rate limit is retried at the platform's time", async () => {
    platform.mood = { rateLimits: 42 };
    expect(await failure()).toMatchObject({ code: "DELIVERY_FAILED", retryAfterMs: 42_000 });
  });
});

test.each(["", "no json", "[]", '{"message":{}}', '{"message":{"id":""}}', '{"chat":{}}'])(
  "counts a message as sent if the answer has no usable id: %s",
  async (body) => {
    const bytes = Buffer.from(body);
    const { channel: against } = open({}, async (url) => ({ status: 202, headers: {}, bytes, truncated: false, url }));
    expect(await against.send(message(), never)).toEqual({});
  },
);
