// What goes out: as the platform documents it, once, to no one's surprise; and what it does not take is told in a sentence
// that helps.
import type { OutgoingFile, OutgoingMessage, SvcError } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { fixture, type Fixture, never, PERSON } from "./fixture.ts";

let deliveries = 0;
const message = ({ room }: Fixture, text: string, more: Partial<OutgoingMessage> = {}): OutgoingMessage => ({
  conversation: { channel: "discord", id: room.id },
  text,
  deliveryId: `delivery-${(deliveries += 1)}`,
  ...more,
});
const file = (name: string, size = 3): OutgoingFile => ({
  kind: "document",
  name,
  mimeType: "text/csv",
  read: async () => new Uint8Array(size).fill(97),
});
const refused = (sending: Promise<unknown>): Promise<SvcError> =>
  sending.then(
    () => Promise.reject(new Error("it was taken")),
    (error: unknown) => error as SvcError,
  );
const bodies = ({ platform }: Fixture, method = "POST") =>
  platform.requests
    .filter((request) => request.method === method && request.path.endsWith("/messages"))
    .map(({ json }) => json);

describe("a message", () => {
  test("calls nobody, unfolds no link, and has a key by which it is taken once", async () => {
    await using at = await fixture();
    const saying = message(at, "@everyone <@1> https://example.org");
    const [first, again] = [await at.channel.send(saying, never), await at.channel.send(saying, never)];
    expect(bodies(at)[0]).toEqual({
      content: "@everyone <@1> https://example.org",
      allowed_mentions: { parse: [] },
      flags: 4,
      nonce: expect.stringMatching(/^[\w-]{25}$/) as unknown,
      enforce_nonce: true,
    });
    expect(first).toEqual(again);
    expect(at.platform.sent.map(({ id, text }) => [id, text])).toEqual([[first.platformId, saying.text]]);
    const [request] = at.platform.requests;
    expect(request?.headers["user-agent"]).toMatch(/^DiscordBot \(\S+, \S+\)$/);
  });

  test("shows once what it answers, and does not fail where that is gone", async () => {
    await using at = await fixture();
    const asked = at.platform.write({ from: PERSON, channelId: at.room.id, text: "?" });
    const replyData = { messageId: asked.id };
    const first = message(at, "one", { replyData });
    for (const one of [first, message(at, "two", { replyData }), first]) await at.channel.send(one, never);
    await at.channel.send(message(at, "three", { replyData: { messageId: "99" } }), never);
    expect(at.platform.sent.map(({ text, answers }) => [text, answers])).toEqual([
      ["one", asked.id],
      ["two", undefined],
      ["three", undefined],
    ]);
  });

  test("to a person opens the direct messages, once, and says where they are", async () => {
    await using at = await fixture();
    const conversation = { channel: "discord", id: `user:${PERSON}` };
    const sent = [message(at, "one", { conversation }), message(at, "two", { conversation })];
    const direct = at.platform.directWith(PERSON).id;
    for (const one of sent) {
      expect((await at.channel.send(one, never)).opened).toEqual({ channel: "discord", id: direct });
    }
    expect(at.platform.sent.map(({ channelId }) => channelId)).toEqual([direct, direct]);
    expect(at.platform.requests.filter(({ path }) => path.endsWith("@me/channels"))).toHaveLength(1);
  });

  test("to a thread goes there", async () => {
    await using at = await fixture();
    const thread = at.platform.addChannel(at.guild, { type: 11, parentId: at.room.id });
    const conversation = { channel: "discord", id: at.room.id, thread: thread.id };
    await at.channel.send(message(at, "x", { conversation }), never);
    expect(at.platform.sent[0]?.channelId).toBe(thread.id);
  });

  test.each(["", "..", "general", "user:", "user:x", "1/2", "9".repeat(30)])("to %j is refused unasked", async (id) => {
    await using at = await fixture();
    const error = await refused(at.channel.send(message(at, "x", { conversation: { channel: "discord", id } }), never));
    expect(error).toMatchObject({ code: "DELIVERY_REFUSED", hint: expect.stringContaining("user:<id>") as unknown });
    expect(at.platform.requests).toEqual([]);
  });
});

describe("files", () => {
  test("go with the text in one message", async () => {
    await using at = await fixture();
    const files = [file("a.csv"), file("b.csv")];
    const receipt = await at.channel.send(message(at, "Here", { files }), never);
    expect(at.platform.sent.map(({ id, text, fileNames }) => [id, text, fileNames])).toEqual([
      [receipt.platformId, "Here", ["a.csv", "b.csv"]],
    ]);
  });

  test("more than ten come in several, each once, whenever it breaks off", async () => {
    await using at = await fixture();
    const files = Array.from({ length: 25 }, (_, index) => file(`${index}.csv`));
    const sending = message(at, "Here", { files });
    let uploads = 0;
    at.platform.mood = () => ((uploads += 1) === 2 ? "loses answers" : "takes");
    expect(await refused(at.channel.send(sending, never))).toMatchObject({ code: "REMOTE_UNREACHABLE" });
    await at.channel.send(sending, never);
    expect(at.platform.sent.map(({ text, fileNames }) => [text, fileNames.length])).toEqual([
      ["Here", 10],
      ["", 10],
      ["", 5],
    ]);
    expect(at.platform.requests).toHaveLength(4);
  });

  test("that the platform does not take are told, and nothing is sent", async () => {
    await using at = await fixture();
    const error = await refused(at.channel.send(message(at, "x", { files: [file("a", 11 * 1_048_576)] }), never));
    expect(error).toMatchObject({ code: "DELIVERY_REFUSED", message: expect.stringContaining("larger") as unknown });
    expect(at.platform.sent).toEqual([]);
  });
});

describe("what the platform refuses", () => {
  test.each([
    [
      "a channel that is not there",
      (at: Fixture): unknown => at.platform.world.channels.delete(at.room.id),
      /no such channel/,
    ],
    ["a channel that it can't see", (at: Fixture): unknown => at.room.denied.add("view"), /may not see/],
    ["a channel in which it may not write", (at: Fixture): unknown => at.room.denied.add("send"), /lacks a permission/],
    ["a thread that is locked", (at: Fixture): unknown => (at.room.isLocked = true), /locked/],
  ] as const)("%s is DELIVERY_REFUSED, in a sentence", async (_, change, words) => {
    await using at = await fixture();
    change(at);
    const error = await refused(at.channel.send(message(at, "x"), never));
    expect(error.code).toBe("DELIVERY_REFUSED");
    expect(error.message).toMatch(words);
  });

  test("a person who takes no messages, and a forum", async () => {
    await using at = await fixture();
    at.platform.world.users.get(PERSON)!.takesMessages = false;
    const person = message(at, "x", { conversation: { channel: "discord", id: `user:${PERSON}` } });
    expect(await refused(at.channel.send(person, never))).toMatchObject({
      code: "DELIVERY_REFUSED",
      message: expect.stringContaining("takes no direct messages") as unknown,
      hint: expect.stringContaining("share a server") as unknown,
    });
    const forum = at.platform.addChannel(at.guild, { type: 15 });
    const post = message(at, "x", { conversation: { channel: "discord", id: forum.id } });
    expect(await refused(at.channel.send(post, never))).toMatchObject({ code: "DELIVERY_REFUSED" });
    const nobody = message(at, "x", { conversation: { channel: "discord", id: "user:77" } });
    expect(await refused(at.channel.send(nobody, never))).toMatchObject({ code: "DELIVERY_REFUSED" });
  });
});

describe("limits of the platform", () => {
  test("429: it is told to the part of a second when to try again; until then nothing is asked there", async () => {
    await using at = await fixture();
    at.platform.limits.refuseNext(/POST/, 12.345);
    expect(await refused(at.channel.send(message(at, "x"), never))).toMatchObject({
      code: "DELIVERY_FAILED",
      retryAfterMs: 12_345,
    });
    const asked = at.platform.requests.length;
    expect(await refused(at.channel.send(message(at, "y"), never))).toMatchObject({ retryAfterMs: 12_345 });
    const elsewhere = message(at, "z", { conversation: { channel: "discord", id: at.platform.directWith(PERSON).id } });
    await at.channel.send(elsewhere, never);
    expect(at.platform.requests).toHaveLength(asked + 1);
    await at.context.clock.advance(12_345);
    await at.channel.send(message(at, "y"), never);
    expect(at.platform.sent.map(({ text }) => text)).toEqual(["z", "y"]);
  });

  test("the global one is for everything but answers to commands", async () => {
    await using at = await fixture();
    at.platform.limits.refuseNext(/POST/, 30, "global");
    await refused(at.channel.send(message(at, "x"), never));
    const elsewhere = message(at, "z", { conversation: { channel: "discord", id: at.platform.directWith(PERSON).id } });
    expect(await refused(at.channel.send(elsewhere, never))).toMatchObject({ retryAfterMs: 30_000 });
    expect(await refused(at.channel.check(never))).toMatchObject({ code: "REMOTE_UNREACHABLE", retryAfterMs: 30_000 });
    expect(at.platform.requests).toHaveLength(1);
  });

  test("a moment is waited for; longer is for the outbox", async () => {
    await using at = await fixture();
    at.platform.limits.mark(/POST channels\/\d+\/messages/, 0, 1.5);
    await at.channel.send(message(at, "one"), never);
    const second = at.channel.send(message(at, "two"), never);
    await at.context.clock.advance(1_400);
    expect(at.platform.requests).toHaveLength(1);
    at.platform.limits.mark(/POST channels\/\d+\/messages/, 0, 60);
    await at.context.clock.advance(200);
    await second;
    expect(await refused(at.channel.send(message(at, "three"), never))).toMatchObject({ retryAfterMs: 60_000 });
    expect(at.platform.sent.map(({ text }) => text)).toEqual(["one", "two"]);
  });

  test("a wait ends when it is called off", async () => {
    await using at = await fixture();
    at.platform.limits.mark(/POST/, 0, 3);
    await at.channel.send(message(at, "one"), never);
    const calling = new AbortController();
    const second = refused(at.channel.send(message(at, "two"), calling.signal));
    calling.abort(new Error("called off"));
    expect((await second).message).toBe("called off");
    expect(at.context.clock.waiting).toBe(0);
  });
});

test("an edit replaces the text and nothing else; of a message that is gone it is refused", async () => {
  await using at = await fixture();
  const sent = await at.channel.send(message(at, "Hel"), never);
  const conversation = { channel: "discord", id: at.room.id };
  const draft = { conversation, platformId: sent.platformId! };
  await at.channel.drafts.edit(draft, "Hello\n```js\nlet a", never);
  expect(at.platform.sent[0]?.text).toBe("Hello\n```js\nlet a\n```");
  at.room.messages.clear();
  expect(await refused(at.channel.drafts.edit(draft, "x", never))).toMatchObject({ code: "DELIVERY_REFUSED" });
  expect(at.channel.drafts.intervalMs(conversation)).toBe(1_500);
});

test("a mark is a reaction that is taken back; one that is blank is none", async () => {
  await using at = await fixture();
  const asked = at.platform.write({ from: PERSON, channelId: at.room.id, text: "?" });
  const conversation = { channel: "discord", id: at.room.id };
  const whose = () => [...(asked.reactions.get("👀") ?? [])];
  await at.channel.readMarks.mark(conversation, asked.id, never);
  expect(whose()).toEqual([at.platform.world.bot.id]);
  await at.channel.readMarks.clear!(conversation, asked.id, never);
  expect(whose()).toEqual([]);
  // A command has no message.
  await at.channel.readMarks.mark(conversation, "interaction-1", never);
  await at.channel.typing.start(conversation, undefined, never);
  expect(at.platform.typing).toEqual([at.room.id]);
  await using without = await fixture({ ack_reaction: " " });
  expect(without.channel.readMarks).toBeUndefined();
});
