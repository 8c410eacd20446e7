// Answers as the server takes them: signed over what is sent, as a reply, at most once where it can tell, and what its
// refusals mean for the next attempt.
import { createHmac, hash } from "node:crypto";
import { startProviderD } from "@svc/testkit/platforms/provider-d/server";
import { vectorCases } from "@svc/testkit/vectors";
import { afterEach, expect, test } from "vitest";
import { hmacSha256Hex } from "@svc/kit";
import { never, open, SECRET, TOKEN } from "./open-channel.ts";

const platforms: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const platform of platforms.splice(0)) await platform.close();
});

async function connected(options: Partial<Parameters<typeof startProviderD>[0]> = {}, secret?: string | undefined) {
  const platform = await startProviderD({ secret: SECRET, ...options });
  platforms.push(platform);
  const changes = "secret" in options ? { webhook_secret: secret } : {};
  return { platform, ...open({ base_url: platform.url, ...changes }) };
}

const message = {
  conversation: { channel: "provider_d", id: "n3xtc10ud" },
  text: "Grüße 👋 aus\nBerlin",
  deliveryId: "delivery-1",
  replyData: { replyTo: 1567 },
};

test("an answer is a signed reply with a reference that is the same for every attempt", async () => {
  const { platform, channel } = await connected();
  expect(await channel.send(message, never)).toEqual({});
  const [{ path, headers, json }] = platform.requests as [(typeof platform.requests)[0]];
  expect(path).toBe("/ocs/v2.php/apps/spreed/api/v1/bot/n3xtc10ud/message");
  expect(headers).toMatchObject({ "ocs-apirequest": "true", accept: "application/json" });
  expect(json).toEqual({ message: message.text, referenceId: hash("sha256", "delivery-1"), replyTo: 1567 });
  const random = headers["x-nextcloud-talk-bot-random"]!;
  expect(random).toMatch(/^[0-9a-f]{64}$/);
  expect(headers["x-nextcloud-talk-bot-signature"]).toBe(
    createHmac("sha256", SECRET)
      .update(random + message.text)
      .digest("hex"),
  );
  await channel.send(message, never);
  expect(platform.requests[1]?.headers["x-nextcloud-talk-bot-random"]).not.toBe(random);
  expect(platform.sent.map(({ referenceId }) => referenceId)).toEqual(Array(2).fill(hash("sha256", "delivery-1")));
});

interface Outgoing {
  readonly secret: string;
  readonly random: string;
  readonly message: string;
}
test.each(vectorCases<Outgoing, { header_signature: string }>("signature.provider_d.outgoing"))(
  "$name",
  ({ input, expected }) => {
    expect(hmacSha256Hex(input.secret, [input.random, input.message])).toBe(expected.header_signature);
  },
);

test.each([undefined, " "])("without a webhook secret (%j) app_token signs", async (webhookSecret) => {
  const { platform, channel } = await connected({ secret: TOKEN }, webhookSecret);
  await channel.send(message, never);
  expect(platform.sent).toHaveLength(1);
});

test("a message that was deleted meanwhile is answered all the same", async () => {
  const { platform, channel } = await connected();
  platform.deleteMessage(1567);
  await channel.send(message, never);
  expect(platform.sent).toMatchObject([{ text: message.text, replyTo: undefined }]);
});

test.each([null, [], "1567", { replyTo: "1567" }, { replyTo: 0 }, { replyTo: 1.5 }])(
  "reply data of another kind (%j) makes a plain message",
  async (replyData) => {
    const { platform, channel } = await connected();
    await channel.send({ ...message, replyData }, never);
    expect(platform.sent).toMatchObject([{ replyTo: undefined }]);
  },
);

test("half a surrogate pair, which PHP can't read, does not make the signature wrong", async () => {
  const { platform, channel } = await connected();
  await channel.send({ ...message, text: "half \ud83d pair" }, never);
  expect(platform.sent).toMatchObject([{ text: "half \ufffd pair" }]);
});

test("as many characters as the platform takes, and no more", async () => {
  const { platform, channel } = await connected();
  expect(channel.text).toEqual({ maxChars: 32_000 });
  await channel.send({ ...message, text: "é".repeat(32_000) }, never);
  await expect(channel.send({ ...message, text: "é".repeat(32_001) }, never)).rejects.toMatchObject({
    code: "DELIVERY_REFUSED",
  });
  expect(platform.sent).toHaveLength(1);
});

test.each(["", "..", "a/b", "a?b", "a".repeat(65), "räum"])("%j is no room, and no part of a path", async (id) => {
  const { platform, channel } = await connected();
  const conversation = { channel: "provider_d", id };
  await expect(channel.send({ ...message, conversation }, never)).rejects.toMatchObject({ code: "DELIVERY_REFUSED" });
  expect(platform.requests).toEqual([]);
});

test("a room that the bot was taken out of, and a secret that is wrong, are refused credentials", async () => {
  const { channel } = await connected({ rooms: ["other"] });
  await expect(channel.send(message, never)).rejects.toMatchObject({ code: "CHANNEL_UNAUTHORIZED" });
  const wrong = await connected({ secret: "another-secret-of-the-bot-0123456789-0123" });
  const error: unknown = await wrong.channel.send(message, never).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "CHANNEL_UNAUTHORIZED" });
  expect(String(error)).not.toContain(SECRET);
});

test("the answer to a sample is tried once, so that it does not look like an attack", async () => {
  const { platform, channel, ingress } = await connected({ rooms: ["n3xtc10ud"] });
  const { body } = ingress.sample!({ text: "Hello", id: "sample-1", atMs: 0 });
  const [message] = ingress.parse({
    method: "POST",
    query: new URLSearchParams(),
    target: "/",
    headers: {},
    body,
    receivedAtMs: 0,
  }).inbound!;
  const sending = channel.send({ conversation: message!.conversation, text: "Hi", deliveryId: "d" }, never);
  await expect(sending).rejects.toMatchObject({ code: "DELIVERY_REFUSED" });
  expect(platform.requests).toHaveLength(1);
});

test("a busy or broken server is tried again later, when it says so", async () => {
  const { platform, channel } = await connected();
  platform.mood = { rateLimits: 7 };
  await expect(channel.send(message, never)).rejects.toMatchObject({ code: "DELIVERY_FAILED", retryAfterMs: 7000 });
  platform.mood = { refuses: 503, headers: { "retry-after": "120" } };
  await expect(channel.send(message, never)).rejects.toMatchObject({ code: "DELIVERY_FAILED", retryAfterMs: 120_000 });
});

test("the check says what is there, and what it does not prove", async () => {
  const { platform, channel } = await connected();
  const { host } = new URL(platform.url);
  expect(await channel.check(never)).toBe(
    `Nextcloud 31.0.2, Talk 21.0.1 with bots, at ${host}; the secret is proven by the first message`,
  );
});

test.each([[undefined], [["audio", "chat-v2"]]])("a server without bots (%j) is told", async (features) => {
  const { channel, run } = await connected({ features });
  const told = { code: "CHANNEL_CANNOT", hint: expect.stringContaining("Talk") };
  await expect(channel.check(never)).rejects.toMatchObject(told);
  // Not given up: an app may be on its way through an update.
  await expect(run(never)).rejects.toMatchObject(told);
});

test("what is no such server is told, without its words", async () => {
  const words = "<h1>words of somebody else</h1>";
  const { channel } = open({}, (url) =>
    Promise.resolve({ status: 200, headers: {}, bytes: Buffer.from(words), truncated: false, url }),
  );
  const error: unknown = await channel.check(never).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "CHANNEL_CANNOT" });
  expect(String(error)).not.toContain("words");
});

test("refused at the door it is off until its config changes; out of reach it is started again", async () => {
  const { platform, run } = await connected();
  platform.mood = { refuses: 401 };
  await expect(run(never)).rejects.toMatchObject({ code: "FEATURE_FAILED" });
  platform.mood = "resets";
  await expect(run(never)).rejects.toMatchObject({ code: "REMOTE_UNREACHABLE" });
});
