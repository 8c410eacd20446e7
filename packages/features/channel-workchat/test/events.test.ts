// Every documented event and type of message, by either way: what becomes of it, and who is heard.
import type { Json } from "@svc/contract";
import {
  WORKCHAT_APP,
  workchatDmOf,
  workchatEvent,
  workchatId,
  workchatMention,
  type WorkchatMessage,
  workchatMessageEvent,
  workchatPress,
} from "@svc/testkit/platforms/workchat/events";
import { expect, test } from "vitest";
import { DM, fixture, inboundOf, NOW_MS, PERSON, posted, STRANGER } from "./fixture.ts";

const GROUP = workchatId("oc", "group");
const ID = workchatId("om", "1");
const ROOT = workchatId("om", "root");

const read = (more: Partial<WorkchatMessage> = {}, section = {}) =>
  inboundOf(workchatMessageEvent({ id: "1", from: PERSON, text: "hello", atMs: NOW_MS, ...more }), section);

test("a private text is a message of its chat", () => {
  expect(read()).toEqual([
    { id: ID, conversation: { channel: "workchat", id: DM }, sender: PERSON, text: "hello", sentAtMs: NOW_MS },
  ]);
});

test("a message of a group says so, and is answered under it", () => {
  expect(read({ chat: GROUP })).toMatchObject([
    { conversation: { id: GROUP }, group: true, replyData: { messageId: ID } },
  ]);
});

test("in a group only a mention of the bot is heard, and its name is not a part of what was said", () => {
  const only = { mention_only: true };
  const mentioned = {
    chat: GROUP,
    text: "@_user_1 deploy @_user_2",
    mentions: [workchatMention(), workchatMention("@_user_2", PERSON, "Ada")],
  };
  expect(read({ chat: GROUP }, only)).toEqual([]);
  expect(read({ chat: GROUP, text: "@_all hello" }, only)).toEqual([]);
  expect(
    read({ chat: GROUP, text: "@_user_1 hi", mentions: [workchatMention("@_user_1", PERSON, "Ada")] }, only),
  ).toEqual([]);
  expect(read(mentioned, only)).toMatchObject([{ text: "deploy @Ada" }]);
  expect(read({ chat: GROUP, text: "@_user_1", mentions: [workchatMention()] }, only)).toMatchObject([
    { text: "@Helper" },
  ]);
});

test("a thread is a conversation of its own, named by its first message", () => {
  const thread = { thread_id: "omt_1" };
  expect(read({ chat: GROUP, more: { ...thread, root_id: ROOT, parent_id: ROOT } })).toMatchObject([
    { conversation: { id: GROUP, thread: ROOT } },
  ]);
  expect(read({ chat: GROUP, more: thread })).toMatchObject([{ conversation: { id: GROUP, thread: ID } }]);
});

test("a reply names what it replies to, and is in no thread", () => {
  const [reply] = read({ chat: GROUP, more: { root_id: ROOT, parent_id: ROOT } });
  expect(reply).toMatchObject({ conversation: { id: GROUP }, repliesTo: ROOT });
  expect(reply?.conversation).not.toHaveProperty("thread");
});

test("neither strangers nor bots nor another app's people are heard; the log names a stranger once", () => {
  expect(read({ sender: { sender_type: "app" } })).toEqual([]);
  expect(read({ appId: "cli_another" })).toEqual([]);
  const { ingress, context } = fixture({
    receive_mode: "webhook",
    encrypt_key: undefined,
    verification_token: undefined,
  });
  const body = JSON.stringify(workchatMessageEvent({ id: "1", from: STRANGER, text: "x", atMs: NOW_MS }));
  for (let time = 0; time < 3; time += 1) expect(ingress[0]!.parse(posted(body)).inbound).toEqual([]);
  expect(context.log.lines.filter(({ message }) => message.includes("allowlist"))).toHaveLength(1);
});

const CONTENTS: readonly (readonly [type: string, content: Json, text: string, more?: Record<string, unknown>])[] = [
  ["text", { text: "a\nb" }, "a\nb"],
  [
    "post",
    {
      title: "Title",
      content: [
        [
          { tag: "text", text: "see " },
          { tag: "a", text: "this", href: "https://example.org/" },
          { tag: "at", user_id: "@_user_1", user_name: "Ada" },
        ],
        [
          { tag: "img", image_key: "img_v2_1" },
          { tag: "emotion", emoji_type: "SMILE" },
          { tag: "code_block", language: "GO", text: "x()" },
        ],
      ],
    },
    `Title\nsee this (https://example.org/)@Ada\n[image]:SMILE:\n\`\`\`\nx()\n\`\`\``,
    { media: [{ kind: "image", ref: `${ID}/image/img_v2_1`, placeholder: "[image]" }] },
  ],
  ["post", { zh_cn: { title: "", content: [[{ tag: "md", text: "**你好**" }]] } }, "**你好**"],
  [
    "image",
    { image_key: "img_v2_1" },
    "[image]",
    { media: [{ kind: "image", ref: `${ID}/image/img_v2_1`, placeholder: "[image]" }] },
  ],
  [
    "file",
    { file_key: "file_v2_1", file_name: "plan.pdf" },
    "[document: plan.pdf]",
    {
      media: [
        { kind: "document", ref: `${ID}/file/file_v2_1`, placeholder: "[document: plan.pdf]", fileName: "plan.pdf" },
      ],
    },
  ],
  [
    "audio",
    { file_key: "file_v2_2", duration: 2000 },
    "[audio]",
    { media: [{ kind: "audio", ref: `${ID}/file/file_v2_2`, placeholder: "[audio]", mimeType: "audio/ogg" }] },
  ],
  ["media", { file_key: "file_v2_3", image_key: "img_v2_4", file_name: "a.mp4" }, "[video: a.mp4]"],
  ["sticker", { file_key: "4ba009df" }, "[sticker]"],
  ["location", { name: "Office", longitude: "13.4", latitude: "52.5" }, "[location: Office, 52.5, 13.4]"],
  [
    "interactive",
    { title: "Yes", elements: [[{ tag: "text", text: "yes" }]] },
    "[a card]\nYes\nyes",
    { secondHand: true },
  ],
  [
    "merge_forward",
    { content: "Merged and Forwarded Message" },
    "[a forwarded conversation, whose messages the platform does not tell]",
    { secondHand: true },
  ],
  ["folder", { file_key: "file_v2_5", file_name: "plans" }, "[a folder: plans]"],
  ["calendar", { summary: "Stand-up", start_time: "1", end_time: "2" }, "[event: Stand-up]", { secondHand: true }],
  ["share_calendar_event", { summary: "Stand-up" }, "[event: Stand-up]", { secondHand: true }],
  ["general_calendar", { summary: "Stand-up" }, "[event: Stand-up]", { secondHand: true }],
  ["video_chat", { topic: "Review", start_time: "1" }, "[meeting: Review]", { secondHand: true }],
  ["share_user", { user_id: "ou_1" }, "[a shared contact]", { secondHand: true }],
  ["share_chat", { chat_id: "oc_1" }, "[a shared group]", { secondHand: true }],
  ["vote", { topic: "Lunch?", options: ["yes", "no"] }, "[poll: Lunch?; yes; no]", { secondHand: true }],
  [
    "todo",
    { task_id: "1", summary: { title: "", content: [[{ tag: "text", text: "yes" }]] } },
    "[task: yes]",
    { secondHand: true },
  ],
];

test.each(CONTENTS.map((one) => [one[0], one] as const))(
  "a message of the type %s",
  (_, [type, content, text, more = {}]) => {
    expect(read({ type, content })).toMatchObject([{ text, ...more }]);
  },
);

test("what says nothing to an agent is nothing", () => {
  expect(read({ type: "system", content: { template: "{from_user} invited you" } })).toEqual([]);
  expect(read({ type: "hongbao", content: { text: "[Red Packet]" } })).toEqual([]);
  expect(read({ text: " " })).toEqual([]);
  const others: readonly (readonly [string, Json])[] = [
    [
      "im.message.reaction.created_v1",
      { message_id: ID, reaction_type: { emoji_type: "OK" }, user_id: { open_id: PERSON } },
    ],
    [
      "im.message.reaction.deleted_v1",
      { message_id: ID, reaction_type: { emoji_type: "OK" }, user_id: { open_id: PERSON } },
    ],
    ["im.message.recalled_v1", { message_id: ID, chat_id: DM, recall_time: "1", recall_type: "message_owner" }],
    ["im.message.message_read_v1", { reader: { reader_id: { open_id: PERSON } }, message_id_list: [ID] }],
    ["im.chat.member.bot.added_v1", { chat_id: GROUP, operator_id: { open_id: PERSON }, name: "A group" }],
    ["im.chat.member.bot.deleted_v1", { chat_id: GROUP, operator_id: { open_id: PERSON }, name: "A group" }],
    ["im.chat.member.user.added_v1", { chat_id: GROUP, users: [{ name: "Bob", user_id: { open_id: PERSON } }] }],
    ["im.chat.member.user.deleted_v1", { chat_id: GROUP, users: [{ name: "Bob", user_id: { open_id: PERSON } }] }],
    ["im.chat.member.user.withdrawn_v1", { chat_id: GROUP, users: [{ name: "Bob", user_id: { open_id: PERSON } }] }],
    ["im.chat.updated_v1", { chat_id: GROUP, before_change: { name: "A" }, after_change: { name: "B" } }],
    ["im.chat.disbanded_v1", { chat_id: GROUP, operator_id: { open_id: PERSON }, name: "A group" }],
    ["im.chat.access_event.bot_p2p_chat_entered_v1", { chat_id: DM, operator_id: { open_id: PERSON } }],
    ["application.bot.menu_v6", { operator: { operator_id: { open_id: PERSON } }, event_key: "help", timestamp: 1 }],
    ["url.preview.get", { operator: { open_id: PERSON }, context: { url: "https://x.test" } }],
  ];
  for (const [type, event] of others) expect(inboundOf(workchatEvent(type, "e", { atMs: NOW_MS }, event))).toEqual([]);
});

const press = (value: Json, more = {}) =>
  inboundOf(workchatPress({ id: "p", from: PERSON, chat: GROUP, message: ID, value, atMs: NOW_MS, ...more }));

test("a press answers the question that its button is of, where that was posted", () => {
  const value = { choice: "svc-prompt:ap-1-x:no", label: "Reject" };
  expect(press(value)).toMatchObject([
    { conversation: { id: GROUP }, sender: PERSON, text: "Reject", choice: { prompt: "ap-1-x", approved: false } },
  ]);
  expect(press({ ...value, thread: ROOT })).toMatchObject([{ conversation: { id: GROUP, thread: ROOT } }]);
});

test.each<[string, Json]>([
  ["another program's", { action: "yes" }],
  ["made up", { choice: "svc-prompt:ap-1:yes ", label: "Approve" }],
  ["without a label", { choice: "svc-prompt:ap-1:yes" }],
  ["with a label that is a text of its own", { choice: "svc-prompt:ap-1:yes", label: "x".repeat(61) }],
  ["a text", "svc-prompt:ap-1:yes"],
  ["a list", ["svc-prompt:ap-1:yes"]],
])("a press on a button answers nothing: %s", (_, value) => expect(press(value)).toEqual([]));

test("a stranger's press is not heard", () => {
  const value = { choice: "svc-prompt:ap-1:yes", label: "Approve" };
  expect(press(value, { from: STRANGER })).toEqual([]);
  expect(workchatDmOf(STRANGER)).not.toBe(DM);
  expect(WORKCHAT_APP.bot).not.toBe(PERSON);
});
