// Approvals in group chats, with the real binary and nine platforms at once: only a valid answer of an approver runs the guarded
// action, and runs it once. Each attack is followed by such an answer in the same room: an attack that counts comes before it.
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "./channel-fixture.ts";
import { inTurn } from "./group-approvals/attacks.ts";
import {
  ALL,
  BUTTONS,
  type Chat,
  type Fields,
  type Posted,
  ROOMS,
  SECRETS,
  type Who,
  type Writing,
} from "./group-approvals/chat.ts";
import { COMMON_ATTACKS } from "./group-approvals/common-attacks.ts";
import { type GroupsFixture, type Question, startGroups } from "./group-approvals/fixture.ts";
import { replying } from "./group-approvals/workplace-chat.ts";
import { PLATFORM_ATTACKS } from "./group-approvals/platform-attacks.ts";

let groups: GroupsFixture;

beforeAll(async () => {
  groups = await startGroups();
});

afterAll(() => groups?.[Symbol.asyncDispose]());

const acted = (question: Question): Promise<string> =>
  eventually(
    () => groups.done(question),
    (text) => text !== "",
  );

const isMine = (chat: Chat, who: Who) => expect.stringContaining(chat.people[who]);

/** The approver answers, and the action runs: nothing before that counted. */
async function answeredBy(chat: Chat, question: Question): Promise<string> {
  await chat.write(question.room, `yes #${question.n} this one counts`);
  expect(await groups.settled(question)).toEqual({
    status: "approved",
    feedback: "this one counts",
    by: isMine(chat, "approver"),
  });
  return acted(question);
}

const cases = [...COMMON_ATTACKS, ...PLATFORM_ATTACKS].flatMap(({ what, on, make }) =>
  on.map((channel) => ({ what, channel, make })),
);

test.concurrent.each(cases)("$what answers nothing: $channel", async ({ channel, make }) => {
  const chat = groups.chats[channel]!;
  const question = await groups.ask(chat);
  await make(chat, question, groups);
  expect(await answeredBy(chat, question)).toBe("once\n");
});

test.concurrent.each([...ALL, "provider_a_direct"])(
  "a word that is delivered three times counts once: %s",
  async (channel) => {
    const chat = groups.chats[channel]!;
    const question = await groups.ask(chat);
    const { room, n } = question;
    const word = { id: IDS[channel]?.(n) ?? `same-${n}`, atMs: Date.now() };
    await inTurn([1, 2].map(() => () => chat.write(room, `yes #${n} this one counts`, word)));
    expect(await groups.settled(question)).toMatchObject({ status: "approved", feedback: "this one counts" });
    const after = await groups.ask(chat, room);
    await chat.write(room, `yes #${n} this one counts`, word);
    expect(await answeredBy(chat, after)).toBe("once\n");
    expect(groups.done(question)).toBe("once\n");
  },
);

/** Where an id is not any text. */
const IDS: Readonly<Record<string, (n: number) => string>> = {
  slack: (n) => `${Math.floor(Date.now() / 1000)}.${String(900_000 + n)}`,
  provider_d: (n) => String(100_000 + n),
  email: (n) => `<same-${n}@sender.test>`,
};

/** Resolves when the turn that asked has said what came of its call. */
const turnOver = ({ posted: { room } }: Question, chat: Chat): Promise<unknown> =>
  eventually(
    () => chat.posted().filter((one) => one.room === room && one.text.includes("the tool was called")),
    ({ length }) => length > 0,
  );

test.concurrent.each([...BUTTONS, "provider_a_direct"])(
  "a press counts once, and not after the end: %s",
  async (channel) => {
    const chat = groups.chats[channel]!;
    const approved = await groups.ask(chat);
    const rejected = await groups.ask(chat);
    const [yes, no] = approved.posted.data;
    const press = { data: yes!, id: `press-${approved.n}` };
    await inTurn([1, 2].map(() => () => chat.press!(approved.posted, press)));
    await chat.press!(rejected.posted, { data: rejected.posted.data[1]! });
    expect(await groups.settled(approved)).toEqual({
      status: "approved",
      feedback: null,
      by: isMine(chat, "approver"),
    });
    await Promise.all([approved, rejected].map((question) => turnOver(question, chat)));
    await chat.press!(approved.posted, press);
    await chat.press!(approved.posted, { data: no! });
    await chat.press!(rejected.posted, { data: rejected.posted.data[0]! });
    expect(await answeredBy(chat, await groups.ask(chat))).toBe("once\n");
    const ended = [await groups.approval(approved.n), await groups.approval(rejected.n)];
    expect(ended.map(({ status }) => status)).toEqual(["approved", "rejected"]);
    expect([groups.done(approved), groups.done(rejected)]).toEqual(["once\n", ""]);
  },
);

test.concurrent.each(ROOMS)("of a yes and a no of two approvers at one instant one counts: %s", async (channel) => {
  const chat = groups.chats[channel]!;
  for (const [one, other] of [
    ["approver", "second"],
    ["second", "approver"],
  ] as const) {
    const question = await groups.ask(chat);
    const { room, n, posted } = question;
    const isPressed = chat.press !== undefined && one === "second";
    await Promise.all([
      isPressed
        ? chat.press!(posted, { from: one, data: posted.data[0]! })
        : chat.write(room, `yes #${n}`, { from: one }),
      chat.write(room, `no #${n}`, { from: other }),
    ]);
    const { status, by } = await groups.settled(question);
    expect(by).toEqual(isMine(chat, status === "approved" ? one : other));
    await turnOver(question, chat);
    expect(groups.done(question)).toBe(status === "approved" ? "once\n" : "");
    expect((await groups.approval(n)).status).toBe(status);
  }
});

/** What a message has beside its words that replies to one of the agent's. */
function replyTo({ id, text }: Posted, { channel }: Chat): Writing {
  const from = { id: 123_456_789, is_bot: true, first_name: "Helper", username: "svc_bot" };
  const replies: Readonly<Record<string, Fields>> = {
    telegram: { reply_to_message: { message_id: Number(id), text, from, reply_markup: {} } },
    discord: { answers: id! },
    email: { "In-Reply-To": id! },
    provider_a: { context: { from: "15550009999", id: id! } },
    workchat: replying(id!),
  };
  return { more: replies[channel]! };
}

const REPLIES = ["telegram", "discord", "email", "provider_a", "provider_a_direct", "workchat"];

test.concurrent.each(REPLIES)("a word in reply to the question itself counts: %s", async (channel) => {
  const chat = groups.chats[channel]!;
  const question = await groups.ask(chat);
  // Quicker than any person: until the platform has confirmed the question, a reply to it answers nothing.
  await eventually(
    async () => {
      await chat.write(question.room, "yes as a reply", replyTo(question.posted, chat));
      return groups.approval(question.n);
    },
    ({ status }) => status !== "waiting",
  );
  const told = { status: "approved", feedback: "as a reply", by: isMine(chat, "approver") };
  expect(await groups.settled(question)).toEqual(told);
  expect(await acted(question)).toBe("once\n");
});

test.concurrent.each(REPLIES)(
  "a word in reply to an earlier question does not answer the next one: %s",
  async (channel) => {
    const chat = groups.chats[channel]!;
    const before = await groups.ask(chat);
    expect(await answeredBy(chat, before)).toBe("once\n");
    const question = await groups.ask(chat, before.room);
    await chat.write(question.room, "yes", replyTo(before.posted, chat));
    expect(await answeredBy(chat, question)).toBe("once\n");
  },
);

test("an answer counts once that comes while the daemon is dead", async () => {
  const chats = ALL.map((channel) => groups.chats[channel]!);
  const questions = await Promise.all(chats.map(async (chat) => [chat, await groups.ask(chat)] as const));
  await groups.kill9();
  const isPosted = ({ channel }: Chat): boolean => channel.startsWith("provider_");
  const answer = ([chat, { room, n }]: (typeof questions)[number]) => chat.write(room, `yes #${n} this one counts`);
  await inTurn(questions.filter(([chat]) => !isPosted(chat)).map((one) => () => answer(one)));
  await groups.start();
  // These post until they are answered, and history is read where something comes in.
  await inTurn(questions.filter(([chat]) => isPosted(chat)).map((one) => () => answer(one)));
  await groups.chats["slack"]!.write(questions.find(([chat]) => chat.channel === "slack")![1].room, "hello");
  for (const [chat, question] of questions) {
    const told = { status: "approved", feedback: "this one counts", by: isMine(chat, "approver") };
    expect(await groups.settled(question)).toEqual(told);
    expect(await acted(question)).toBe("once\n");
  }
});

test("no word of a secret is in the log", () => {
  for (const secret of Object.values(SECRETS)) expect(groups.output()).not.toContain(secret);
});
