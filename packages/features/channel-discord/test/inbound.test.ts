// What people write, as the agent reads it: who may, what is meant for the bot, and what is in it.
import type { Inbound, Json } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { fixture, type Fixture, PERSON, soon, STRANGER } from "./fixture.ts";

type Writing = Parameters<Fixture["platform"]["write"]>[0];

/** What of these is received. */
async function heard(
  at: Fixture,
  ...writings: readonly (Omit<Writing, "from"> & { from?: string })[]
): Promise<Inbound[]> {
  for (const writing of writings) at.platform.write({ from: PERSON, ...writing });
  await marked(at);
  return at.context.received.filter(({ text }) => text !== MARK);
}

/** Everything before it is done with. */
async function marked({ platform, context }: Fixture): Promise<void> {
  const { id } = platform.write({ from: PERSON, text: MARK });
  await soon(() => context.received.some((one) => one.id === id));
}

const MARK = "(a mark)";

const bot = ({ platform }: Fixture): string => `<@${platform.world.bot.id}>`;

async function started(section: Readonly<Record<string, unknown>> = {}): Promise<Fixture> {
  const at = await fixture(section);
  await at.start();
  if (String(section["allowed_users"]) !== "") await marked(at);
  return at;
}

describe("who is heard", () => {
  test("a direct message of somebody on the list; a stranger's is told to the log once", async () => {
    await using at = await started();
    const [one, ...others] = await heard(
      at,
      { text: "Hello" },
      { text: "Me too", from: STRANGER },
      { text: "Me too", from: STRANGER },
    );
    const direct = at.platform.directWith(PERSON);
    expect([one, others]).toEqual([
      {
        id: [...direct.messages.keys()][1],
        conversation: { channel: "discord", id: direct.id },
        sender: PERSON,
        senderName: "Ada",
        text: "Hello",
        sentAtMs: at.platform.world.nowMs,
      },
      [],
    ]);
    expect(at.context.log.lines.filter(({ message }) => message.includes("allowlist"))).toHaveLength(1);
  });

  test("bots, webhooks, the platform itself and the bot are not", async () => {
    await using at = await started({ allowed_users: ["*"] });
    at.platform.addUser({ id: "300000000000000001", isBot: true });
    const channelId = at.platform.directWith(PERSON).id;
    const got = await heard(
      at,
      { text: "a bot", from: "300000000000000001", channelId },
      { text: "a webhook", more: { webhook_id: "1" } },
      { text: "pinned", type: 6 },
      { text: "joined", type: 7 },
      { text: "a thread", type: 18 },
      { text: "a command", type: 20 },
      { text: "our own", from: at.platform.world.bot.id, channelId },
    );
    expect(got).toEqual([]);
  });

  test("* lets everyone in, an empty list nobody", async () => {
    await using open = await started({ allowed_users: ["*"] });
    expect(await heard(open, { text: "Hello", from: STRANGER })).toMatchObject([{ sender: STRANGER }]);
    await using shut = await started({ allowed_users: [] });
    shut.platform.write({ from: PERSON, text: "Hello" });
    await soon(() => shut.context.log.lines.some(({ message }) => message.includes("allowlist")));
    expect(shut.context.received).toEqual([]);
  });

  test("on servers that are not listed nobody is", async () => {
    await using at = await started({ allowed_guilds: ["123"] });
    const text = `${bot(at)} hello`;
    const got = await heard(at, { text, channelId: at.room.id }, { text, channelId: at.room.id });
    expect(got).toEqual([]);
    expect(at.context.log.lines.filter(({ message }) => message.includes("allowed_guilds"))).toHaveLength(1);
  });
});

describe("what is meant for the bot on a server", () => {
  test("what mentions it or its role, and what answers a message of its; the mention goes", async () => {
    await using at = await started();
    const channelId = at.room.id;
    const { platformId } = await at.channel.send(
      { conversation: { channel: "discord", id: channelId }, text: "I am here", deliveryId: "d1" },
      new AbortController().signal,
    );
    const got = await heard(
      at,
      { text: "not for you", channelId },
      { text: `${bot(at)} one`, channelId },
      { text: `${bot(at)}: and now, ${bot(at)}, two, ${bot(at)}`, channelId },
      { text: `<@&${at.guild.roleId}> three`, channelId },
      { text: "four", channelId, answers: platformId! },
      { text: "@everyone not for you", channelId, more: { mention_everyone: true } },
      { text: `<@${STRANGER}> not for you`, channelId },
      { text: `\`${bot(at)}\``, channelId, more: { mentions: [] } },
    );
    expect(got.map(({ text }) => text)).toEqual([
      "one",
      "and now, @helper, two",
      "three",
      'four\n\n(in answer to helper: "I am here")',
    ]);
    expect(got[0]).toMatchObject({
      group: true,
      conversation: { id: channelId },
      replyData: { messageId: got[0]!.id },
    });
  });

  test("everything with mention_only = false", async () => {
    await using at = await started({ mention_only: false });
    const got = await heard(at, { text: "hello", channelId: at.room.id });
    expect(got.map(({ text }) => text)).toEqual(["hello"]);
  });

  test("everything in a thread that it opened or is in, if thread_replies is on; each thread is a conversation", async () => {
    for (const isOn of [true, false]) {
      await using at = await fixture({ thread_replies: isOn });
      const { platform, guild, room } = at;
      const thread = (more: object) => platform.addChannel(guild, { type: 11, parentId: room.id, ...more }).id;
      const before = thread({ isJoined: true });
      await at.start();
      await marked(at);
      const got = await heard(
        at,
        { text: "joined before", channelId: before },
        { text: "opened by it", channelId: thread({ ownerId: platform.world.bot.id }) },
        { text: "of others", channelId: thread({ ownerId: PERSON }) },
      );
      expect(got.map(({ text }) => text)).toEqual(isOn ? ["joined before", "opened by it"] : []);
      expect(got.slice(0, 1).map(({ conversation }) => conversation.id)).toEqual(isOn ? [before] : []);
    }
  });

  test("a thread that it was put into, and out of", async () => {
    await using at = await started();
    const { platform, guild, room } = at;
    const thread = platform.addChannel(guild, { type: 11, parentId: room.id, ownerId: PERSON });
    const change = (data: Record<string, Json>) =>
      platform.world.tell({ type: "THREAD_MEMBERS_UPDATE", intent: 1, data: { id: thread.id, ...data } });
    change({ added_members: [{ user_id: platform.world.bot.id }] });
    platform.write({ from: PERSON, text: "in", channelId: thread.id });
    change({ removed_member_ids: [platform.world.bot.id] });
    const got = await heard(at, { text: "out", channelId: thread.id });
    expect(got.map(({ text }) => text)).toEqual(["in"]);
  });
});

describe("what is in it", () => {
  const image = {
    id: "1",
    filename: "cat.png",
    content_type: "image/png",
    size: 1,
    url: "https://cdn.discordapp.com/a/cat.png",
  };

  test("files, as what they are; a voice message is sound", async () => {
    await using at = await started();
    const [one] = await heard(at, {
      text: "Look",
      attachments: [
        image,
        { ...image, filename: "notes.txt", content_type: "text/plain; charset=utf-8" },
        { ...image, filename: "film.mp4", content_type: "video/mp4" },
        { ...image, filename: "voice-message.ogg", content_type: "audio/ogg", duration_secs: 1.2, waveform: "AAAA" },
        { ...image, filename: "odd", content_type: 7 },
      ],
    });
    expect(one?.text).toBe(
      "[image: cat.png]\n[document: notes.txt]\n[video: film.mp4]\n[audio: voice-message.ogg]\n[document: odd]\nLook",
    );
    expect(one?.media?.map(({ kind, mimeType, fileName }) => [kind, mimeType, fileName])).toEqual([
      ["image", "image/png", "cat.png"],
      ["document", "text/plain", "notes.txt"],
      ["video", "video/mp4", "film.mp4"],
      ["audio", "audio/ogg", "voice-message.ogg"],
      ["document", undefined, "odd"],
    ]);
    expect(one?.media?.[0]?.ref).toBe(image.url);
  });

  test("stickers: a picture where there is one, else the name", async () => {
    await using at = await started();
    const [one] = await heard(at, {
      text: "",
      more: {
        sticker_items: [
          { id: "11", name: "Wave", format_type: 1 },
          { id: "12", name: "Dance", format_type: 4 },
          { id: "13", name: "Drawing", format_type: 3 },
        ],
      },
    });
    expect(one?.text).toBe("[sticker: Wave]\n[sticker: Dance]\n[sticker: Drawing]");
    expect(one?.media).toMatchObject([
      { kind: "sticker", ref: `${at.platform.url}/stickers/11.png` },
      { kind: "sticker", ref: `${at.platform.url}/stickers/12.gif` },
    ]);
  });

  test("embeds only where there is nothing else; polls; what is forwarded", async () => {
    await using at = await started();
    const embeds = [
      { title: "News", description: "It rains.", fields: [{ name: "Where", value: "Here" }], footer: { text: "End" } },
    ];
    const poll = {
      question: { text: "Tea?" },
      answers: [{ poll_media: { text: "Yes" } }, { poll_media: { text: "No" } }],
    };
    const forwarded = [{ message: { content: "Said elsewhere", attachments: [image] } }];
    const got = await heard(
      at,
      { text: "", embeds },
      { text: "https://example.org", embeds },
      { text: "", more: { poll } },
      { text: "", more: { message_reference: { type: 1 }, message_snapshots: forwarded } },
    );
    expect(got.map(({ text }) => text)).toEqual([
      "News\nIt rains.\nWhere: Here\nEnd",
      "https://example.org",
      "Poll: Tea?\n- Yes\n- No",
      "Forwarded:\n[image: cat.png]\nSaid elsewhere",
    ]);
    expect(got[3]?.media).toHaveLength(1);
  });

  test("names for people and emojis; what is nobody's mention stays", async () => {
    await using at = await started();
    at.guild.nicks.set(PERSON, "Countess");
    const text = `<@${STRANGER}> and <@!${PERSON}> <:party:123> <a:dance:124> <#55> <@999> <t:1>`;
    const [direct, onServer] = await heard(at, { text }, { text: `${bot(at)} hi`, channelId: at.room.id });
    expect(direct?.text).toBe("@eve and @Ada :party: :dance: <#55> <@999> <t:1>");
    expect(onServer?.senderName).toBe("Countess");
  });

  test("an answer to somebody else's words quotes them shortly, behind its own; a command or an answered question does not", async () => {
    await using at = await started();
    const { platform, room } = at;
    const long = platform.write({ from: STRANGER, channelId: room.id, text: `Line one\nline two ${"x".repeat(400)}` });
    const { platformId } = await at.channel.prompts.post(
      { conversation: { channel: "discord", id: room.id }, text: "Deploy?", deliveryId: "d1" },
      { id: "ap-1", title: "Deploy?", message: "", approve: "Approve", reject: "Reject" },
      new AbortController().signal,
    );
    const got = await heard(
      at,
      { text: `${bot(at)} what of this?`, channelId: room.id, answers: long.id },
      { text: `${bot(at)} /new`, channelId: room.id, answers: long.id },
      { text: "approve", channelId: room.id, answers: platformId! },
    );
    const [quoting, ...others] = got.map(({ text }) => text);
    expect(quoting).toMatch(/^what of this\?\n\n\(in answer to eve: "Line one line two x{200,}…"\)$/);
    expect(others).toEqual(["/new", "approve"]);
    expect(got.map(({ repliesTo }) => repliesTo)).toEqual([long.id, long.id, platformId]);
  });

  test("nothing but a mention is a call", async () => {
    await using at = await started();
    const got = await heard(at, { text: bot(at), channelId: at.room.id }, { text: " " });
    expect(got.map(({ text }) => text)).toEqual(["(mentions you)"]);
  });

  test("reactions to what the bot wrote, and in direct messages, are recorded", async () => {
    await using at = await started();
    const { platform, room } = at;
    const ours = platform.write({ from: platform.world.bot.id, channelId: room.id, text: "Mine" });
    const theirs = platform.write({ from: STRANGER, channelId: room.id, text: "Theirs" });
    platform.react(ours, PERSON, "👍");
    platform.react(theirs, PERSON, "👍");
    platform.react(ours, STRANGER, "👎");
    platform.react(ours, platform.world.bot.id, "👀");
    const got = await heard(at);
    expect(got).toEqual([
      {
        kind: "reaction",
        id: `reaction-${ours.id}-${PERSON}-👍`,
        conversation: { channel: "discord", id: room.id },
        sender: PERSON,
        group: true,
        text: "👍",
      },
    ]);
  });
});
