// What goes out must be what the platform documents: the fake takes nothing else. Its errors must decide between a dead
// letter, another try and a channel that is off.
import { type Channel, type Json, type OutgoingFile, type OutgoingMessage, SvcError } from "@svc/contract";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ERROR_CODES } from "../src/error-codes.ts";
import { problemOf } from "../src/problems.ts";
import { houseAndPlatform, never, NOW_MS, SECTION } from "./house.ts";

const PERSON = "+16505551234";
const message = (text: string, more: Partial<OutgoingMessage> = {}): OutgoingMessage => ({
  conversation: { channel: "provider_a", id: PERSON },
  text,
  deliveryId: "delivery-1",
  ...more,
});

const file = (kind: OutgoingFile["kind"], mimeType: string, size = 10, name = "a.bin"): OutgoingFile => ({
  kind,
  name,
  mimeType,
  read: () => Promise.resolve(new Uint8Array(size).fill(7)),
});

const failure = async (sending: Promise<unknown>): Promise<SvcError> => {
  const error: unknown = await sending.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof SvcError)) throw new Error(`no SvcError: ${String(error)}`);
  return error;
};

describe("a text", () => {
  test("is one message, without a preview that would be fetched unclicked", async () => {
    await using at = await houseAndPlatform();
    const receipt = await at.channel.send(message("Hello https://example.org"), never);
    const [sent, ...others] = at.platform.sent;
    expect(others).toEqual([]);
    expect(receipt).toEqual({ platformId: sent?.messageId });
    expect(sent?.body).toEqual({
      messaging_product: "whatsapp",
      recipient_type: "individual",
      to: PERSON,
      biz_opaque_callback_data: "delivery-1",
      type: "text",
      text: { preview_url: false, body: "Hello https://example.org" },
    });
    expect(at.platform.requests[0]).toMatchObject({
      method: "POST",
      path: `/v25.0/${SECTION.phone_number_id}/messages`,
    });
  });

  test("of the greatest length is taken", async () => {
    await using at = await houseAndPlatform();
    await at.channel.send(message("a".repeat(at.channel.text?.maxChars ?? 0)), never);
    expect(at.platform.sent[0]?.text).toHaveLength(4096);
  });

  test("quotes the message that it answers where that one quoted another", async () => {
    await using at = await houseAndPlatform();
    await at.channel.send(message("yes", { replyData: { messageId: "wamid.in", contextId: "wamid.out" } }), never);
    await at.channel.send(message("no"), never);
    expect(at.platform.sent.map(({ quotes }) => quotes)).toEqual(["wamid.in", undefined]);
  });

  test.each([
    ["+49 151 (123) 45-67", { to: "+491511234567", recipient_type: "individual" }],
    ["16505551234", { to: "+16505551234", recipient_type: "individual" }],
    ["US.13491208655302741918", { recipient: "US.13491208655302741918", recipient_type: "individual" }],
    [
      "Y2FwaV9ncm91cDoxNzA1NTU1MDEzOToxMjAzNjM0MDQ2OTQyMzM4MjAZD",
      { to: "Y2FwaV9ncm91cDoxNzA1NTU1MDEzOToxMjAzNjM0MDQ2OTQyMzM4MjAZD", recipient_type: "group" },
    ],
  ])("to %s is addressed as the platform wants it", async (id, expected) => {
    await using at = await houseAndPlatform();
    await at.channel.send(message("hi", { conversation: { channel: "provider_a", id } }), never);
    expect(at.platform.sent[0]?.body).toMatchObject(expected);
  });

  test.each(["", "bob", "bob@example.org", "../16505551234"])("to %j is refused without a request", async (id) => {
    await using at = await houseAndPlatform();
    const sending = at.channel.send(message("hi", { conversation: { channel: "provider_a", id } }), never);
    expect(await failure(sending)).toMatchObject({ code: "DELIVERY_REFUSED" });
    expect(at.platform.requests).toEqual([]);
  });
});

describe("files", () => {
  test("a picture and a short text are one message: it arrives as a whole or not at all", async () => {
    await using at = await houseAndPlatform();
    await at.channel.send(message("Look", { files: [file("image", "image/png")] }), never);
    expect(at.platform.sent).toMatchObject([{ type: "image", text: "Look", file: { mimeType: "image/png" } }]);
    expect(at.platform.sent[0]?.file?.bytes).toEqual(new Uint8Array(10).fill(7));
  });

  test("a document keeps its name, and what reads like text goes as text", async () => {
    await using at = await houseAndPlatform();
    const files = [file("document", "application/pdf", 10, "größe.pdf"), file("document", "text/csv", 10, "t.csv")];
    await at.channel.send(message("", { files: files.slice(0, 1) }), never);
    await at.channel.send(message("", { files: files.slice(1), deliveryId: "delivery-2" }), never);
    expect(at.platform.sent.map(({ body }) => (body["document"] as { filename: string }).filename)).toEqual([
      "größe.pdf",
      "t.csv",
    ]);
    expect(at.platform.sent.map((sent) => sent.file?.mimeType)).toEqual(["application/pdf", "text/plain"]);
  });

  test("a picture that is to arrive as it is goes as a document", async () => {
    await using at = await houseAndPlatform();
    await at.channel.send(message("", { files: [file("document", "image/png", 10, "plan.png")] }), never);
    expect(at.platform.sent).toMatchObject([{ type: "document", file: { mimeType: "image/png", name: "plan.png" } }]);
  });

  test("more than fits into one message becomes several: the text first", async () => {
    await using at = await houseAndPlatform();
    const files = [file("audio", "audio/ogg"), file("video", "video/mp4"), file("sticker", "image/webp")];
    const receipt = await at.channel.send(message("All of it", { files }), never);
    expect(at.platform.sent.map(({ type }) => type)).toEqual(["text", "audio", "video", "sticker"]);
    expect(receipt.platformId).toBe(at.platform.sent[0]?.messageId);
  });

  test("a text that is no caption any more goes before its picture", async () => {
    await using at = await houseAndPlatform();
    await at.channel.send(message("a".repeat(1025), { files: [file("image", "image/png")] }), never);
    expect(at.platform.sent.map(({ type, text }) => [type, text.length])).toEqual([
      ["text", 1025],
      ["image", 0],
    ]);
  });

  test.each([
    ["image", "image/gif", 10],
    ["image", "image/png", 5 * 1_048_576 + 1],
    ["document", "application/zip", 10],
    ["document", "image/png", 5 * 1_048_576 + 1],
    ["sticker", "image/webp", 500 * 1024 + 1],
    ["audio", "audio/mpeg", 0],
  ] as const)(
    "%s of %s with %d bytes is refused; the text arrives all the same, and only once",
    async (kind, type, size) => {
      await using at = await houseAndPlatform();
      const both = message("Here it is", { files: [file(kind, type, size)] });
      expect(await failure(at.channel.send(both, never))).toMatchObject({ code: "DELIVERY_REFUSED" });
      expect(await failure(at.channel.send(both, never))).toMatchObject({ code: "DELIVERY_REFUSED" });
      expect(at.platform.sent.map(({ text }) => text)).toEqual(["Here it is"]);
    },
  );

  test("a file that can't be read is told as whoever reads it says", async () => {
    await using at = await houseAndPlatform();
    const gone = {
      ...file("image", "image/png"),
      read: () => Promise.reject(new SvcError("DELIVERY_FAILED", "later")),
    };
    expect(await failure(at.channel.send(message("Look", { files: [gone] }), never))).toMatchObject({
      code: "DELIVERY_FAILED",
    });
    expect(at.platform.sent).toEqual([]);
  });
});

describe("a retry", () => {
  const parts = () => message("text", { files: [file("audio", "audio/ogg"), file("sticker", "image/webp")] });

  test("goes on where the last try stopped, however often that is", async () => {
    await using at = await houseAndPlatform();
    at.platform.failNext("*", []);
    let posts = 0;
    // Each second message fails at first.
    at.platform.mood = ({ path }) => {
      if (!path.endsWith("/messages")) return "takes";
      posts += 1;
      return posts % 2 === 0 ? { refuses: 500 } : "takes";
    };
    await failure(at.channel.send(parts(), never));
    await failure(at.channel.send(parts(), never));
    const receipt = await at.channel.send(parts(), never);
    expect(at.platform.sent.map(({ type }) => type)).toEqual(["text", "audio", "sticker"]);
    expect(receipt.platformId).toBe(at.platform.sent[0]?.messageId);
  });

  test("of what was never begun begins, and another delivery has nothing to do with it", async () => {
    await using at = await houseAndPlatform();
    at.platform.mood = { refuses: 503 };
    await failure(at.channel.send(parts(), never));
    at.platform.mood = "takes";
    await at.channel.send(parts(), never);
    await at.channel.send({ ...parts(), deliveryId: "delivery-2" }, never);
    expect(at.platform.sent.map(({ type }) => type)).toEqual(["text", "audio", "sticker", "text", "audio", "sticker"]);
  });

  test("an upload that fails has sent nothing", async () => {
    await using at = await houseAndPlatform();
    at.platform.mood = ({ path }) => (path.endsWith("/media") ? { refuses: 500 } : "takes");
    expect(await failure(at.channel.send(parts(), never))).toMatchObject({ code: "DELIVERY_FAILED" });
    expect(at.platform.sent).toEqual([]);
  });
});

describe("an error of the platform", () => {
  test.each([
    [131047, "DELIVERY_REFUSED", undefined],
    [131026, "DELIVERY_REFUSED", undefined],
    [100, "DELIVERY_REFUSED", undefined],
    [190, "CHANNEL_UNAUTHORIZED", undefined],
    [10, "CHANNEL_UNAUTHORIZED", undefined],
    [200, "CHANNEL_UNAUTHORIZED", undefined],
    [131005, "CHANNEL_UNAUTHORIZED", undefined],
    [3, "CHANNEL_UNAUTHORIZED", undefined],
    [130429, "DELIVERY_FAILED", undefined],
    [80007, "DELIVERY_FAILED", 60_000],
    [131056, "DELIVERY_FAILED", 6_000],
    [131000, "DELIVERY_FAILED", undefined],
    [131016, "DELIVERY_FAILED", undefined],
    [368, "DELIVERY_FAILED", undefined],
    [131042, "DELIVERY_FAILED", undefined],
    [424_242, "DELIVERY_REFUSED", undefined],
  ])("%d is %s", async (code, expected, retryAfterMs) => {
    await using at = await houseAndPlatform();
    at.platform.failNext(PERSON, [code]);
    const error = await failure(at.channel.send(message("hi"), never));
    expect(error).toMatchObject({ code: expected, retryAfterMs });
    expect(error.message).toContain(`(error ${code})`);
    expect(at.platform.sent).toEqual([]);
  });

  test("a status alone says what it can, and none of the platform's words come through", async () => {
    await using at = await houseAndPlatform();
    const told: [string, number | undefined][] = [];
    for (const mood of [{ refuses: 401 }, { refuses: 404 }, { refuses: 502 }, { rateLimits: 7 }, { refuses: 200 }]) {
      at.platform.mood = mood;
      const error = await failure(at.channel.send(message("hi"), never));
      expect(`${error.message}${error.hint ?? ""}`).not.toMatch(/refused|EAAG|delivery-1/);
      told.push([error.code, error.retryAfterMs]);
    }
    expect(told).toEqual([
      ["CHANNEL_UNAUTHORIZED", undefined],
      ["DELIVERY_REFUSED", undefined],
      ["DELIVERY_FAILED", undefined],
      ["DELIVERY_FAILED", 7_000],
      ["DELIVERY_FAILED", undefined],
    ]);
  });

  const answer = (json: Json, status = 400, headers: Record<string, string> = {}) => ({ status, headers, json });

  test("it is believed when it says that it will pass, or how long that takes", () => {
    expect(problemOf(answer({ error: { code: 999, is_transient: true } }), NOW_MS)).toMatchObject({
      code: "DELIVERY_FAILED",
    });
    const usage = { "102": [{ type: "messages", estimated_time_to_regain_access: 19 }, { call_count: 3 }] };
    const headers = { "x-business-use-case-usage": JSON.stringify(usage) };
    expect(problemOf(answer({ error: { code: 80007 } }, 400, headers), NOW_MS)).toMatchObject({
      retryAfterMs: 19 * 60_000,
    });
    expect(
      problemOf(answer({ error: { code: 80007 } }, 400, { ...headers, "retry-after": "5" }), NOW_MS),
    ).toMatchObject({
      retryAfterMs: 5_000,
    });
  });

  test("whatever it answers, what we make of it holds none of it but a number", () => {
    const canary = "canary-7f3a";
    const anything = fc.jsonValue().map((value) => ({ error: { message: canary, type: canary, code: value } }) as Json);
    fc.assert(
      fc.property(anything, fc.integer({ min: 200, max: 599 }), fc.string(), (json, status, header) => {
        const error = problemOf(answer(json, status, { "x-business-use-case-usage": header + canary }), NOW_MS);
        expect(["CHANNEL_UNAUTHORIZED", "DELIVERY_REFUSED", "DELIVERY_FAILED"]).toContain(error?.code);
        expect(`${error?.message}${error?.hint}`).not.toContain(canary);
      }),
    );
  });

  test("every known one is a sentence in itself", () => {
    for (const { sentence } of ERROR_CODES.values()) expect(sentence).toMatch(/^[A-Z][^.]*[A-Za-z]$/);
  });
});

test("an answer that can't be read is an acceptance: the message is out", async () => {
  await using at = await houseAndPlatform();
  const channel: Channel = at.channel;
  at.platform.mood = "takes";
  expect(await channel.send(message("hi"), never)).toHaveProperty("platformId");
  expect(problemOf({ status: 200, headers: {}, json: undefined }, NOW_MS)).toBeUndefined();
});

describe("signs", () => {
  test("writing, and read with it, is told of a message", async () => {
    await using at = await houseAndPlatform();
    const conversation = { channel: "provider_a", id: PERSON };
    await at.channel.typing.start(conversation, "wamid.in", never);
    await at.channel.typing.start(conversation, undefined, never);
    expect(at.platform.marks).toEqual(["read wamid.in", "typing wamid.in"]);
    expect(at.platform.requests).toHaveLength(1);
    expect(at.channel.typing.lastsMs).toBe(25_000);
  });

  test("read alone does not say that somebody writes", async () => {
    await using at = await houseAndPlatform();
    await at.channel.readMarks.mark({ channel: "provider_a", id: PERSON }, "wamid.in", never);
    expect(at.platform.marks).toEqual(["read wamid.in"]);
  });
});
