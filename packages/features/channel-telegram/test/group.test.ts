// In a group the bot must answer who talks to it, in the topic where that is, and no one else: neither other people's talk, nor
// other bots' commands, nor who is not on the list.
import { describe, expect, test } from "vitest";
import { ADA, FORUM, GROUP, fixture as unnamed, only, posted, said, STRANGER } from "./fixture.ts";

type More = Parameters<typeof said>[1];

const fixture = await posted();
const open = await posted({ mention_only: false });

const inGroup = (text: string, more: More = {}) => said(text, { chat: GROUP, ...more });
const mention = (offset: number, length = 8) => ({ entities: [{ type: "mention", offset, length }] });
const us = { id: 123_456_789, is_bot: true, first_name: "Helper", username: "svc_bot" };
const texts = (from: typeof fixture, update: Record<string, unknown>): string[] =>
  (from.parsed(update).inbound ?? []).map(({ text }) => text);

describe("with mention_only, what is for us", () => {
  test.each<[string, string, Record<string, unknown>, string | undefined]>([
    ["talk of others", "hello", {}, undefined],
    ["our name first", "@svc_bot, hello", mention(0), "hello"],
    ["our name in other letters", "@SVC_Bot hello", mention(0), "hello"],
    ["our name last", "hello @svc_bot", mention(6), "hello"],
    ["our name within", "is @svc_bot there?", mention(3), "is @svc_bot there?"],
    ["nothing but our name", "@svc_bot", mention(0), "@svc_bot"],
    ["another's name", "@abc_bot hello", mention(0), undefined],
    [
      "our name as a link",
      "Helper hello",
      { entities: [{ type: "text_mention", offset: 0, length: 6, user: us }] },
      "hello",
    ],
    ["our name without a mark", "x@svc_bot.example", {}, undefined],
    [
      "a reply to us",
      "yes",
      { reply_to_message: { message_id: 1, from: us, text: "Really?" } },
      'yes\n\n[In reply to your message: "Really?"]',
    ],
    [
      "a reply to somebody",
      "yes",
      { reply_to_message: { message_id: 1, from: { id: 9 }, text: "Really?" } },
      undefined,
    ],
    ["a command of ours", "/new", {}, "/new"],
    ["a command to us", "/weather@svc_bot now", {}, "/weather now"],
    ["a command of nobody's", "/weather now", {}, undefined],
    ["a command to another", "/new@abc_bot", {}, undefined],
    ["a command behind our name", "@svc_bot /new", mention(0), "/new"],
  ])("%s", (_what, text, more, expected) => {
    expect(texts(fixture, inGroup(text, { more: more as never }))).toEqual(expected === undefined ? [] : [expected]);
  });

  test("a caption counts as a text", () => {
    const more = { photo: [{ file_id: "f" }], caption: "@svc_bot what is it?", caption_entities: mention(0).entities };
    expect(texts(fixture, said(undefined, { chat: GROUP, more: more as never }))).toEqual(["[image]\nwhat is it?"]);
  });

  test("a name that is not known yet is nobody's", () => {
    const unknown = unnamed({ mode: "webhook" });
    expect(texts(unknown, inGroup("@svc_bot hello", { more: mention(0) as never }))).toEqual([]);
    expect(texts(unknown, said("hello"))).toEqual(["hello"]);
  });
});

describe("without mention_only", () => {
  test.each([
    ["hello", "hello"],
    ["/weather", "/weather"],
    ["/new@abc_bot", undefined],
  ])("%s", (text, expected) => {
    expect(texts(open, inGroup(text))).toEqual(expected === undefined ? [] : [expected]);
  });
});

describe("a conversation", () => {
  test("is the group, and its answer replies to the question", () => {
    const update = inGroup("/help");
    expect(only(fixture.parsed(update))).toMatchObject({
      conversation: { channel: "telegram", id: String(GROUP.id) },
      group: true,
      sender: ADA,
      senderName: "Ada Lovelace",
      replyData: { messageId: update.message.message_id },
    });
  });

  test.each<[string, Record<string, unknown>, string | undefined]>([
    ["a topic", { is_topic_message: true, message_thread_id: 12 }, "12"],
    ["General", {}, undefined],
    ["General by its number", { is_topic_message: true, message_thread_id: 1 }, undefined],
    ["a thread of replies", { message_thread_id: 12 }, undefined],
  ])("in %s", (_what, more, thread) => {
    const { conversation } = only(fixture.parsed(said("/help", { chat: FORUM, more: more as never })));
    expect(conversation).toEqual({ channel: "telegram", id: String(FORUM.id), ...(thread && { thread }) });
  });

  test("a topic that we began is not a reply to us with every word in it", () => {
    const replied = { message_id: 12, from: us, forum_topic_created: { name: "x" } };
    const more = { is_topic_message: true, message_thread_id: 12, reply_to_message: replied };
    expect(texts(fixture, said("hello", { chat: FORUM, more: more as never }))).toEqual([]);
  });
});

describe("who", () => {
  test("is not on the list is not heard, and told of once, and only who talked to us", async () => {
    const one = await posted();
    const stranger = { from: STRANGER, user: { username: "mallory" } };
    expect(texts(one, inGroup("hello", stranger))).toEqual([]);
    expect(one.context.log.lines).toEqual([]);
    for (let time = 0; time < 2; time += 1) expect(texts(one, inGroup("/help", stranger))).toEqual([]);
    expect(one.context.log.lines).toMatchObject([
      { message: "a sender is not on the allowlist", fields: { sender: `${STRANGER} (@mallory)` } },
    ]);
  });

  test("is on it by name, in whatever letters, with and without the @", async () => {
    for (const entry of ["@Ada_L", "ada_l", " @ADA_L "]) {
      const one = await posted({ allowed_users: [entry] });
      expect(texts(one, said("x", { user: { username: "Ada_l" } }))).toEqual(["x"]);
      expect(texts(one, said("x", { user: { username: "Ada_l2" } }))).toEqual([]);
      expect(texts(one, said("x"))).toEqual([]);
    }
  });

  test("has a name that is another's id is not let in by it", async () => {
    const one = await posted({ allowed_users: ["5551001"] });
    expect(texts(one, said("x", { from: STRANGER, user: { username: "5551001" } }))).toEqual([]);
  });

  test("is anonymous is nobody on any list, not even on one of everybody", async () => {
    const one = await posted({ allowed_users: ["*"] });
    expect(texts(one, inGroup("/help", { from: STRANGER }))).toEqual(["/help"]);
    const anonymous = { from: "1087968824", user: { is_bot: true, username: "GroupAnonymousBot" } };
    expect(texts(one, inGroup("/help", { ...anonymous, more: { sender_chat: GROUP } }))).toEqual([]);
    expect(texts(one, inGroup("/help", { more: { sender_chat: { id: -5, type: "channel" } } }))).toEqual([]);
  });

  test("may approve is known by the entry that names them", async () => {
    const one = await posted({ allowed_users: ["*"], approvers: ["@Ada_L", "77"] });
    const senderOf = (more: More) => only(one.parsed(said("yes", more))).sender;
    expect(senderOf({ user: { username: "ada_l" } })).toBe("@Ada_L");
    expect(senderOf({ from: "77" })).toBe("77");
    expect(senderOf({ from: "78" })).toBe("78");
  });
});

describe("a reaction", () => {
  const reaction = (more: Record<string, unknown> = {}) => ({
    message_reaction: {
      chat: GROUP,
      message_id: 5,
      user: { id: Number(ADA), is_bot: false, first_name: "Ada" },
      date: 1,
      old_reaction: [],
      new_reaction: [{ type: "emoji", emoji: "👍" }],
      ...more,
    },
  });

  test("is recorded", () => {
    expect(only(fixture.parsed(reaction()))).toMatchObject({
      kind: "reaction",
      id: "123456789:update:7",
      text: "👍",
      sender: ADA,
      conversation: { id: String(GROUP.id) },
      replyData: { messageId: 5 },
    });
    expect(only(fixture.parsed(reaction({ new_reaction: [] })))).toMatchObject({ kind: "reaction", text: "" });
  });

  test("of who is anonymous or not on the list is not", () => {
    expect(fixture.parsed(reaction({ user: undefined, actor_chat: GROUP })).inbound).toEqual([]);
    expect(fixture.parsed(reaction({ user: { id: 9, is_bot: false } })).inbound).toEqual([]);
  });
});
