/** What one platform has, and others have not: words of bots, forwarded ones, other programs' buttons, mail that proves nothing. */
import { type Attack, as, inTurn } from "./attacks.ts";

const BOT = { id: 1_080_000, is_bot: true, first_name: "Other", username: "other_bot" };

export const PLATFORM_ATTACKS: readonly Attack[] = [
  // Telegram
  {
    what: "a message of a bot with the approver's id",
    on: ["telegram"],
    make: as({ from: { ...BOT, id: 5_551_002 } }),
  },
  {
    what: "a message in the name of the group or of a channel",
    on: ["telegram"],
    make: as(
      { sender_chat: { id: -1_001, type: "supergroup", title: "A group" } },
      { sender_chat: { id: -1_002, type: "channel", title: "News" } },
    ),
  },
  { what: "a message that an inline bot wrote", on: ["telegram"], make: as({ via_bot: BOT }) },
  {
    what: "a message that was forwarded from a person or a channel",
    on: ["telegram"],
    make: as(
      { forward_origin: { type: "user", date: 1, sender_user: { id: 5_559_999, is_bot: false, first_name: "Eve" } } },
      { forward_origin: { type: "hidden_user", date: 1, sender_user_name: "Eve" } },
      {
        forward_origin: {
          type: "channel",
          date: 1,
          message_id: 1,
          chat: { id: -1_002, type: "channel", title: "yes" },
        },
      },
    ),
  },

  // Discord
  {
    what: "a message of a webhook or bot with the approver's id",
    on: ["discord"],
    make: (chat, question) =>
      as(
        { webhook_id: "300000000000000001" },
        { author: { id: chat.people.approver, username: "ada", bot: true } },
        { author: { id: chat.people.approver, username: "ada", system: true } },
      )(chat, question),
  },
  {
    what: "a message of the platform's own kinds",
    on: ["discord"],
    make: as(...[6, 7, 18, 20, 21, 23, 46].map((type) => ({ type }))),
  },
  {
    what: "a forwarded message",
    on: ["discord"],
    make: (chat, { room, n }) =>
      chat.write(room, "", {
        more: { message_snapshots: [{ message: { type: 0, content: `yes #${n}`, embeds: [], attachments: [] } }] },
      }),
  },

  // Slack
  {
    what: "a message of a bot in the approver's name",
    on: ["slack"],
    make: as({ bot_id: "B0OTHERB1" }, { subtype: "bot_message" }, { subtype: "channel_topic" }, { hidden: true }),
  },
  {
    what: "a shared message",
    on: ["slack"],
    make: (chat, { room, n }) =>
      chat.write(room, " ", { more: { attachments: [{ is_share: true, text: `yes #${n}`, author_name: "yes" }] } }),
  },
  { what: "a word in a thread of another message", on: ["slack"], make: as({ thread_ts: "1750000000.000001" }) },

  // Provider A
  {
    what: "a forwarded message",
    on: ["provider_a", "provider_a_direct"],
    make: as({ context: { forwarded: true } }, { context: { frequently_forwarded: true } }),
  },
  {
    what: "a press on a button or row of another program's making",
    on: ["provider_a", "provider_a_direct"],
    make: as(
      { type: "interactive", interactive: { type: "button_reply", button_reply: { id: "other:yes", title: "Yes" } } },
      {
        type: "interactive",
        interactive: { type: "list_reply", list_reply: { id: "svc-prompt:ap-1:yes", title: "Approve" } },
      },
      { type: "interactive", interactive: { type: "nfm_reply", nfm_reply: { response_json: "yes", body: "yes" } } },
      { type: "button", button: { text: "Yes", payload: "yes" } },
    ),
  },

  // Provider C
  {
    what: "a press on a button or row of another program's making",
    on: ["provider_c"],
    make: as(
      { text: null, type: "button", buttonReply: { text: "Yes" } },
      { text: null, type: "interactive", interactiveButtonReply: { id: "1", title: "Yes" } },
      { text: null, type: "interactive", listReply: { id: "1", title: "Approve" } },
      // What the platform shows is the same text.
      { text: "Yes", type: "interactive", interactiveButtonReply: { id: "1", title: "Yes" } },
    ),
  },
  { what: "a message of the account itself", on: ["provider_c"], make: as({ owner: true }) },

  // Provider D
  {
    what: "a message of a bot, a guest or a person of another server",
    on: ["provider_d"],
    make: as(
      { actor: { id: "bots/bot-1", type: "Application" } },
      { actor: { type: "Application" } },
      { actor: { id: "guests/ada" } },
      { actor: { id: "federated_users/ada@other.test" } },
      { type: "Activity" },
    ),
  },
  {
    what: "a quoted word",
    on: ["provider_d"],
    make: (chat, { room, n }) => {
      const quoted = {
        type: "Note",
        id: "7",
        name: "message",
        content: JSON.stringify({ message: `yes #${n}`, parameters: [] }),
      };
      const actor = { type: "Person", id: "users/eve", name: "yes" };
      return chat.write(room, "what is this?", {
        more: { object: { inReplyTo: { type: "Note", actor, object: quoted } } },
      });
    },
  },

  // Workplace chat
  {
    what: "a message of a bot or of another app with the approver's id",
    on: ["workchat"],
    make: as({ sender: { sender_type: "app" } }, { appId: "cli_0000000000000000" }),
  },
  {
    what: "words of others: a forwarded conversation, a card, a poll",
    on: ["workchat"],
    make: (chat, { n, ...question }) =>
      as(
        { type: "merge_forward", content: { content: `yes #${n}` } },
        { type: "interactive", content: { title: "", elements: [[{ tag: "text", text: `yes #${n}` }]] } },
        { type: "vote", content: { topic: `yes #${n}`, options: ["yes"] } },
        { type: "todo", content: { summary: { title: "", content: [[{ tag: "text", text: `yes #${n}` }]] } } },
      )(chat, { n, ...question }),
  },
  {
    what: "a word in a thread of another message",
    on: ["workchat"],
    async make(chat, { room, n }) {
      const root = (await chat.write(room, "lunch?", { from: "member" }))!;
      await chat.write(room, `yes #${n}`, { more: { thread_id: "omt_1", root_id: root, parent_id: root } });
    },
  },

  // Mail
  {
    what: "a mail whose sender is not proven",
    on: ["email"],
    make: as(
      { "Authentication-Results": [] },
      { "Authentication-Results": "mx.example.com; dmarc=fail header.from=example.org; dkim=pass header.d=evil.test" },
      { "Authentication-Results": "mx.evil.test; dmarc=pass header.from=example.org" },
      { "Authentication-Results": ["mx.example.com; spf=fail", "mx.example.com; dmarc=pass header.from=example.org"] },
      { "Authentication-Results": "mx.example.com; dmarc=pass header.from=example.org.evil.test" },
    ),
  },
  {
    what: "a mail of another sender with the approver's address beside it",
    on: ["email"],
    make: as(
      { From: ["ada@example.org", "eve@evil.test"] },
      { From: "ada@example.org, eve@evil.test" },
      ...[
        { From: '"ada@example.org" <eve@evil.test>' },
        { From: "eve@evil.test", "Reply-To": "ada@example.org" },
        { From: "eve@evil.test", Sender: "ada@example.org" },
        { From: "eve@evil.test (ada@example.org)" },
      ].map((headers) => ({
        ...headers,
        "Authentication-Results": "mx.example.com; dmarc=pass header.from=evil.test",
      })),
    ),
  },
  {
    what: "an automatic mail",
    on: ["email"],
    make: as(
      { "Auto-Submitted": "auto-replied" },
      { "Auto-Submitted": "auto-generated" },
      { Precedence: "bulk" },
      { "X-Autoreply": "yes" },
      { "Return-Path": "<>" },
    ),
  },
  {
    what: "a quoted word in a mail",
    on: ["email"],
    make: (chat, { room, n }) =>
      inTurn(
        [
          `> yes #${n}`,
          `On Tue, 1 Dec 2026 at 10:00, Eve <eve@evil.test> wrote:\n> yes #${n}`,
          `-----Original Message-----\nFrom: Eve\nSent: Tuesday\nSubject: x\n\nyes #${n}`,
          `From: Eve\nSent: Tuesday\nSubject: x\n\nyes #${n}`,
          { html: `<blockquote>yes #${n}</blockquote>` },
        ].map(
          (mail) => () => (typeof mail === "string" ? chat.write(room, mail) : chat.write(room, "", { more: mail })),
        ),
      ),
  },
];
