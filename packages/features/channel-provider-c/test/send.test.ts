// What leaves: to the right line and number, text before files, no text twice because a file failed; and what the
// platform's refusals mean.
import type { OutgoingFile, OutgoingMessage, SvcError } from "@svc/contract";
import { type ProviderC, startProviderC } from "@svc/testkit/platforms/provider-c/server";
import { vectorCases } from "@svc/testkit/vectors";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { targetOf } from "../src/payload.ts";
import { never, open, type Opened, TOKEN } from "./open-channel.ts";

interface Target {
  readonly tenant_id: string;
  readonly recipient: string;
}

test.each(vectorCases<Target, string>("target.provider_c"))("$name", ({ input, expected }) => {
  expect(targetOf(input.tenant_id, input.recipient)).toBe(expected);
});

test.each([
  [undefined, "+1 (202) 555-0123", "12025550123"],
  [undefined, "12025550123", "12025550123"],
  ["My line", "+12025550123", "My line:12025550123"],
  ["1", "12025550123", "1:12025550123"],
])("of the line %s and %s the target is %s", (tenant, recipient, target) => {
  expect(targetOf(tenant, recipient)).toBe(target);
});

test.each(["", "+", "ann", "other:12025550123", "12025550123/../x", "1\n2"])("%j is nobody", (recipient) => {
  expect(() => targetOf("tenant1", recipient)).toThrow(expect.objectContaining({ code: "DELIVERY_REFUSED" }));
});

let platform: ProviderC;
let channel: Opened["channel"];
beforeEach(async () => {
  platform = await startProviderC({ token: TOKEN, lines: [{ name: "tenant1", number: "15550009999" }] });
  channel = open({ api_url: platform.url }).channel;
});
afterEach(() => platform.close());

const message = (changes: Partial<OutgoingMessage> = {}): OutgoingMessage => ({
  conversation: { channel: "provider_c", id: "+12025550123" },
  text: "Hello",
  deliveryId: "delivery-1",
  ...changes,
});
const file = (changes: Partial<OutgoingFile> = {}): OutgoingFile => ({
  kind: "image",
  name: 'pl"an\r\n.png',
  mimeType: "image/png",
  read: () => Promise.resolve(Buffer.from("picture")),
  ...changes,
});
const failure = (changes: Partial<OutgoingMessage> = {}) =>
  channel.send(message(changes), never).then(
    () => expect.unreachable("it was sent"),
    (error: SvcError) => error,
  );

test("a reply goes to the number, and to the line when there is one", async () => {
  const receipt = await channel.send(message(), never);
  const { channel: ofLine } = open({ api_url: `${platform.url}/`, tenant_id: "tenant1" });
  await ofLine.send(message(), never);
  expect(platform.sent).toMatchObject([
    { messageId: receipt.platformId, target: "12025550123", text: "Hello" },
    { target: "tenant1:12025550123", text: "Hello" },
  ]);
});

test("whoever is written to under a number in another form answers under the one that the receipt tells", async () => {
  const conversation = { channel: "provider_c", id: "1 (202) 555-0123" };
  const { opened } = await channel.send(message({ conversation }), never);
  expect(opened).toEqual({ channel: "provider_c", id: "+12025550123" });
  expect(await channel.send(message(), never)).not.toHaveProperty("opened");
});

test("a token that was copied with the word Bearer in front is the same token", async () => {
  const { channel: copied } = open({ api_url: platform.url, api_token: `Bearer ${TOKEN}` });
  await copied.send(message(), never);
  expect(platform.sent).toHaveLength(1);
});

describe("files", () => {
  test("go after the text, with names that can't break the form", async () => {
    await channel.send(message({ files: [file(), file({ name: "two.png" })] }), never);
    expect(platform.sent.map(({ text, file: got }) => got?.name ?? text)).toEqual([
      "Hello",
      expect.any(String),
      "two.png",
    ]);
    expect(platform.sent[1]?.file).toMatchObject({
      mimeType: "image/png",
      bytes: new Uint8Array(Buffer.from("picture")),
    });
    expect(platform.sent.map(({ target }) => target)).toEqual(Array(3).fill("12025550123"));
  });

  test("may go without words", async () => {
    const receipt = await channel.send(message({ text: "", files: [file()] }), never);
    expect(platform.sent).toMatchObject([{ messageId: receipt.platformId, file: { mimeType: "image/png" } }]);
  });

  test("that fail are tried again without the text that arrived", async () => {
    platform.mood = (request) => (request.path.endsWith("/file") ? { refuses: 503 } : "takes");
    const delivery = { files: [file(), file({ name: "two.png" })] };
    for (let i = 0; i < 3; i += 1) expect(await failure(delivery)).toMatchObject({ code: "DELIVERY_FAILED" });
    platform.mood = "takes";
    await channel.send(message(delivery), never);
    expect(platform.sent.map(({ file: got, text }) => (got ? "file" : text))).toEqual(["Hello", "file", "file"]);
    await channel.send(message({ deliveryId: "delivery-2" }), never);
    expect(platform.sent).toHaveLength(4);
  });

  test("go without the text that arrived before the process was killed", async () => {
    const delivery = message({ files: [file(), file({ name: "two.png" })] });
    platform.mood = (request) => (request.path.endsWith("/file") ? { refuses: 503 } : "takes");
    const { channel: killed, context } = open({ api_url: platform.url });
    await expect(killed.send(delivery, never)).rejects.toMatchObject({ code: "DELIVERY_FAILED" });
    platform.mood = "takes";
    await open({ api_url: platform.url }, undefined, context.state).channel.send(delivery, never);
    expect(platform.sent.map(({ file: got, text }) => (got ? "file" : text))).toEqual(["Hello", "file", "file"]);
  });
});

describe("a refusal", () => {
  test.each([
    [400, "DELIVERY_REFUSED"],
    [401, "CHANNEL_UNAUTHORIZED"],
    [403, "CHANNEL_UNAUTHORIZED"],
    [404, "DELIVERY_REFUSED"],
    [409, "DELIVERY_REFUSED"],
    [500, "DELIVERY_FAILED"],
  ] as const)("with status %d is %s", async (status, code) => {
    platform.mood = { refuses: status };
    expect(await failure()).toMatchObject({ code });
  });

  test("of a conversation that is closed ends the delivery, with whatever status it is said", async () => {
    for (const how of [200, 400] as const) {
      platform.closeConversation("12025550123", how);
      expect(await failure()).toMatchObject({ code: "DELIVERY_REFUSED" });
    }
  });

  test("says when to come back", async () => {
    platform.mood = { rateLimits: 9 };
    expect(await failure()).toMatchObject({ code: "DELIVERY_FAILED", retryAfterMs: 9000 });
  });
});

test.each(["", "no json", "[]", '{"message":{}}', '{"message":{"id":""}}', '{"result":true}'])(
  "an acceptance without a usable id (%s) is one",
  async (body) => {
    const bytes = Buffer.from(body);
    const { channel: against } = open({}, async (url) => ({ status: 200, headers: {}, bytes, truncated: false, url }));
    expect(await against.send(message(), never)).toEqual({});
  },
);
