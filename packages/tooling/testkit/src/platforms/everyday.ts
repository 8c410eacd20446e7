/** The platforms of the channels that people use every day, all met in one way: somebody writes there, and one looks. */
import type { FakePlatform } from "./base.ts";
import { startDiscord } from "./discord/server.ts";
import { startSlack } from "./slack/server.ts";
import { SLACK_BOT, slackDmOf } from "./slack/workspace.ts";
import { startTelegram, TELEGRAM_TOKEN } from "./telegram/server.ts";
import { privateChat, telegramMessage, telegramPress } from "./telegram/update.ts";

export interface Seen {
  /** As in `chatOf`. */
  readonly chat: string;
  readonly text: string;
  readonly buttons?: readonly string[] | undefined;
}

export interface EverydayOptions {
  /** How many people are on the list. Default: one. */
  readonly people?: number;
}

export interface EverydayPlatform {
  /** The channel's id. */
  readonly id: string;
  /** The server behind it, whose mood may be changed. */
  readonly fake: Pick<FakePlatform, "url" | "mood">;
  /** Of the config, with the people allowed, and `keys` beside what it needs. */
  section(keys?: string): string;
  /** The chat of the first person with the agent, as `svc send` takes it. */
  readonly chat: string;
  readonly person: string;
  /** All of them, the first one first. */
  readonly people: readonly string[];
  chatOf(person: string): string;
  /** What the section has to be kept quiet about. */
  readonly secrets: readonly string[];
  /** The first person, or another, or a stranger, writes to the agent. */
  write(text: string, who?: string): void;
  /** The person presses a button of the question that was posted last. */
  press(approved: boolean): void;
  /** What people see of the agent, oldest first. */
  seen(): readonly Seen[];
  /** What the platform does to its connections now and then, by the name that it has there. */
  readonly disturbances: Readonly<Record<string, () => void>>;
  /** Hands over once more what nobody confirmed, where it does that without being asked. Tells how much that is. */
  handOverAgain(): number;
  /** What it was asked for, in order. */
  readonly requests: readonly { readonly path: string }[];
  close(): Promise<void>;
}

export const EVERYDAY = { telegram, discord, slack } as const;

/** `name`: of the one with this number, from 0. */
const peopleBy = (name: (number: number) => string, { people = 1 }: EverydayOptions): string[] =>
  Array.from({ length: people }, (_, number) => name(number));

const listed = (people: readonly string[]): string => JSON.stringify(people);

let telegramIds = 0;

async function telegram(options: EverydayOptions = {}): Promise<EverydayPlatform> {
  const people = peopleBy((number) => String(5_551_001 + number), options);
  const person = people[0]!;
  const platform = await startTelegram();
  for (const one of people) platform.chats.add({ id: Number(one), type: "private", first_name: "Ada" });
  const write = (text: string, who: string = person): void => {
    const from = who === "stranger" ? "5559999" : who;
    const message = telegramMessage({
      id: String((telegramIds += 1)),
      from,
      text,
      atMs: Date.now(),
      chat: privateChat(from),
    });
    platform.push({ message });
  };
  return {
    id: "telegram",
    fake: platform,
    chat: person,
    person,
    people,
    chatOf: (one) => one,
    secrets: [TELEGRAM_TOKEN],
    requests: platform.requests,
    section: (keys = "") => `[channels_config.telegram]
bot_token = "${TELEGRAM_TOKEN}"
allowed_users = ${listed(people)}
api_url = "${platform.apiUrl}"
${keys}`,
    write,
    press(approved) {
      const question = platform.sent.at(-1)!;
      const data = question.callbackData[approved ? 0 : 1]!;
      const id = String((telegramIds += 1));
      platform.push({ callback_query: telegramPress({ id, from: person, data, message: platform.told(question) }) });
    },
    seen: () => platform.sent.map(({ chatId, text, buttons }) => ({ chat: String(chatId), text, buttons })),
    disturbances: {
      disconnect: () => platform.disconnect(),
      "empty answer": () => platform.expirePolls(),
      "conflict (409)": () => platform.pollElsewhere(),
    },
    // Whoever asks is told.
    handOverAgain: () => platform.waiting.length,
    close: () => platform.close(),
  };
}

async function discord(options: EverydayOptions = {}): Promise<EverydayPlatform> {
  const token = "MTA4MDAwMDAwMDAwMDAwMDAwMQ.GabcdE.bot-token-of-the-house";
  const people = peopleBy((number) => String(200_000_000_000_000_001n + BigInt(number)), options);
  const person = people[0]!;
  const stranger = "200000000000999999";
  const platform = await startDiscord({ token, nowMs: Date.now() });
  for (const id of [...people, stranger]) platform.addUser({ id });
  const room = platform.directWith(person);
  return {
    id: "discord",
    fake: platform,
    chat: room.id,
    person,
    people,
    chatOf: (one) => platform.directWith(one).id,
    secrets: [token],
    requests: platform.requests,
    section: (keys = "") => `[channels_config.discord]
bot_token = "${token}"
allowed_users = ${listed(people)}
api_url = "${platform.apiUrl}"
${keys}`,
    write: (text, who = person) =>
      void platform.write({ from: who === "stranger" ? stranger : who, text, atMs: Date.now() }),
    press: (approved) => void platform.press(person, platform.sent.at(-1)!.buttons![approved ? 0 : 1]!),
    seen: () => platform.sent.map(({ channelId, text, buttons }) => ({ chat: channelId, text, buttons })),
    disturbances: {
      disconnect: () => platform.gateway.disconnect(),
      "op 7 (reconnect)": () => platform.gateway.send({ op: 7, d: null }),
      "op 9 (invalid session)": () => {
        platform.gateway.forgetSessions();
        platform.gateway.send({ op: 9, d: false });
      },
      "close 4000": () => platform.gateway.disconnect(4000),
      "sessions forgotten": () => {
        platform.gateway.forgetSessions();
        platform.gateway.disconnect();
      },
    },
    // What is told is told; the rest is in the history.
    handOverAgain: () => 0,
    close: () => platform.close(),
  };
}

let slackPresses = 0;

async function slack(options: EverydayOptions = {}): Promise<EverydayPlatform> {
  const tokens = { botToken: "xoxb-12-34-bot-token-of-the-house", appToken: "xapp-1-A0APP-34-app-token-of-the-house" };
  const people = peopleBy((number) => `U0PERSON${number + 1}`, options);
  const person = people[0]!;
  const stranger = "U0STRANGE";
  const all = [...people.map((id) => ({ id, name: "ada", displayName: "Ada" })), { id: stranger, name: "eve" }];
  const platform = await startSlack({ ...tokens, people: all });
  for (const { id } of all) platform.workspace.dm(id);
  return {
    id: "slack",
    fake: platform,
    chat: slackDmOf(person),
    person,
    people,
    chatOf: slackDmOf,
    secrets: Object.values(tokens),
    requests: platform.requests,
    section: (keys = "") => `[channels_config.slack]
bot_token = "${tokens.botToken}"
app_token = "${tokens.appToken}"
allowed_users = ${listed(people)}
api_url = "${platform.apiUrl}"
${keys}`,
    write: (text, who = person) =>
      void platform.write({ text, from: who === "stranger" ? stranger : who, atMs: Date.now() }),
    press: (approved) =>
      platform.press({ from: person, approved, atMs: Date.now(), id: `press-${(slackPresses += 1)}` }),
    seen: () =>
      platform.sent
        .filter(({ message }) => message.user === undefined || message.user === SLACK_BOT.user)
        .map(({ channel, text, buttons }) => ({ chat: channel, text, buttons })),
    disturbances: {
      disconnect: () => platform.socket.drop(),
      // It ends the connection some seconds after it has asked.
      refresh: () => platform.socket.askToLeave("refresh_requested"),
      "refresh, and the end of the old one": () => {
        platform.socket.askToLeave("refresh_requested");
        platform.socket.dropOldest();
      },
      "warning of the end": () => platform.socket.askToLeave("warning"),
    },
    handOverAgain() {
      const { length } = platform.socket.waiting;
      platform.socket.sendAgain();
      return length;
    },
    close: () => platform.close(),
  };
}
