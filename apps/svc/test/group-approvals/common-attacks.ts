/** What can be tried on every platform that has the thing. */
import { expect } from "vitest";
import { type Attack, inTurn, says } from "./attacks.ts";
import { ALL, BUTTONS, ROOMS } from "./chat.ts";
import { replying } from "./workplace-chat.ts";

/** Before the question was posted, by the platform's clock. */
const BEFORE_MS = 60_000;

export const COMMON_ATTACKS: readonly Attack[] = [
  { what: "a stranger's word", on: ALL, make: says(({ n }) => ["yes", `approve #${n}`], "stranger") },
  { what: "the word of a member who is no approver", on: ROOMS, make: says(({ n }) => ["yes", `yes #${n}`], "member") },
  {
    what: "an approver's word in another room",
    on: ALL,
    async make(chat, { n }) {
      const other = chat.openRoom();
      await chat.write(other, "yes");
      await chat.write(other, `yes #${n}`);
    },
  },
  {
    what: "a word that only looks like a keyword",
    on: ALL,
    make: says(({ n }) => [
      `y\u0435s #${n}`,
      `\uFF59\uFF45\uFF53`,
      "yes\u200B",
      "\u200Byes",
      "`yes`",
      "> yes",
      '"yes"',
      `#${n} yes`,
    ]),
  },
  {
    what: "the number of a question of another room",
    on: ALL,
    async make(chat, question, groups) {
      const other = await groups.ask(chat);
      await chat.write(question.room, `yes ${other.n}`);
      await chat.write(question.room, `yes #${other.n}`);
      await chat.write(other.room, `no #${other.n}`);
      expect(await groups.settled(other)).toMatchObject({ status: "rejected" });
    },
  },
  {
    what: "a word that was written before the question",
    on: ["telegram", "discord", "slack", "provider_a", "provider_b", "provider_c", "workchat"],
    make: (chat, { room }) => chat.write(room, "yes", { atMs: Date.now() - BEFORE_MS }),
  },
  {
    what: "a stranger's press",
    on: BUTTONS,
    make: (chat, { posted }) => chat.press!(posted, { from: "stranger", data: posted.data[0]! }),
  },
  {
    what: "the press of a member who is no approver",
    on: BUTTONS,
    make: (chat, { posted }) => chat.press!(posted, { from: "member", data: posted.data[0]! }),
  },
  {
    what: "a press on a button of another room's question, moved here",
    on: BUTTONS,
    async make(chat, { posted, room }, groups) {
      const other = await groups.ask(chat);
      await chat.press!(posted, { data: other.posted.data[0]! });
      await chat.press!(posted, { data: posted.data[0]!, room: other.room });
      await chat.write(other.room, `no #${other.n} both wait`);
      expect(await groups.settled(other)).toMatchObject({ status: "rejected", feedback: "both wait" });
      expect(room).not.toBe(other.room);
    },
  },
  {
    what: "a press on the button of an earlier installation's question of this number",
    on: BUTTONS,
    make: (chat, { posted, n }) =>
      chat.press!(posted, { data: posted.data[0]!.replace(/ap-\d+[a-z0-9-]*/, `ap-${n}`) }),
  },
  {
    what: "a press whose data is made up",
    on: BUTTONS,
    make: (chat, { posted, n }) =>
      inTurn(
        ["yes", "approve", `ap-${n}`, `yes #${n}`, `${posted.data[0]!} `, `x${posted.data[0]!}`].map(
          (data) => () => chat.press!(posted, { data }),
        ),
      ),
  },

  {
    what: "a reaction",
    on: ["telegram", "discord", "slack", "provider_a", "provider_c", "provider_d"],
    make: (chat, { posted }) => chat.react!(posted, "yes"),
  },
  {
    what: "a message that is made an answer by an edit",
    on: BUTTONS,
    make: (chat, { room, n }) => chat.edit!(room, "maybe later", `yes #${n}`),
  },
  {
    what: "a word in reply to another message",
    on: ["telegram", "discord", "provider_a", "provider_a_direct", "workchat"],
    async make(chat, { room }) {
      const other = (await chat.write(room, "lunch?", { from: "member" }))!;
      const lunch = {
        message_id: Number(other),
        text: "lunch?",
        from: { id: 5_551_001, is_bot: false, first_name: "Eve" },
      };
      const replies: Readonly<Record<string, unknown>> = {
        telegram: { reply_to_message: lunch },
        discord: { answers: other },
        provider_a: { context: { from: "15551230001", id: other } },
        workchat: replying(other),
      };
      await chat.write(room, "yes", { more: replies[chat.channel] as never });
    },
  },
];
