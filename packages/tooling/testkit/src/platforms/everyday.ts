/** The platforms of the channels that people use every day, all met in one way: somebody writes there, and one looks. */
import { startDiscord } from "./discord/server.ts";
import { startSlack } from "./slack/server.ts";
import { SLACK_BOT, slackDmOf } from "./slack/workspace.ts";
import { startTelegram, TELEGRAM_TOKEN } from "./telegram/server.ts";
import { privateChat, telegramMessage, telegramPress } from "./telegram/update.ts";

export interface Seen {
  readonly text: string;
  readonly buttons?: readonly string[] | undefined;
}

export interface EverydayPlatform {
  /** The channel's id. */
  readonly id: string;
  /** Of the config, with the person allowed, and `keys` beside what it needs. */
  section(keys?: string): string;
  /** The chat of the person with the agent, as `svc send` takes it. */
  readonly chat: string;
  readonly person: string;
  /** What the section has to be kept quiet about. */
  readonly secrets: readonly string[];
  /** The person, or a stranger, writes to the agent. */
  write(text: string, who?: "stranger"): void;
  /** The person presses a button of the question that was posted last. */
  press(approved: boolean): void;
  /** What people see of the agent, oldest first. */
  seen(): readonly Seen[];
  /** What it was asked for, in order. */
  readonly requests: readonly { readonly path: string }[];
  close(): Promise<void>;
}

export const EVERYDAY = { telegram, discord, slack } as const;

let telegramIds = 0;

async function telegram(): Promise<EverydayPlatform> {
  const person = "5551001";
  const platform = await startTelegram();
  platform.chats.add({ id: Number(person), type: "private", first_name: "Ada" });
  const write = (text: string, who?: "stranger"): void => {
    const from = who === "stranger" ? "5551999" : person;
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
    chat: person,
    person,
    secrets: [TELEGRAM_TOKEN],
    requests: platform.requests,
    section: (keys = "") => `[channels_config.telegram]
bot_token = "${TELEGRAM_TOKEN}"
allowed_users = ["${person}"]
api_url = "${platform.apiUrl}"
${keys}`,
    write,
    press(approved) {
      const question = platform.sent.at(-1)!;
      const data = question.callbackData[approved ? 0 : 1]!;
      const id = String((telegramIds += 1));
      platform.push({ callback_query: telegramPress({ id, from: person, data, message: platform.told(question) }) });
    },
    seen: () => platform.sent,
    close: () => platform.close(),
  };
}

async function discord(): Promise<EverydayPlatform> {
  const token = "MTA4MDAwMDAwMDAwMDAwMDAwMQ.GabcdE.bot-token-of-the-house";
  const person = "200000000000000001";
  const stranger = "200000000000000002";
  const platform = await startDiscord({ token, nowMs: Date.now() });
  for (const id of [person, stranger]) platform.addUser({ id });
  const room = platform.directWith(person);
  return {
    id: "discord",
    chat: room.id,
    person,
    secrets: [token],
    requests: platform.requests,
    section: (keys = "") => `[channels_config.discord]
bot_token = "${token}"
allowed_users = ["${person}"]
api_url = "${platform.apiUrl}"
${keys}`,
    write: (text, who) => void platform.write({ from: who === "stranger" ? stranger : person, text, atMs: Date.now() }),
    press: (approved) => void platform.press(person, platform.sent.at(-1)!.buttons![approved ? 0 : 1]!),
    seen: () => platform.sent,
    close: () => platform.close(),
  };
}

let slackPresses = 0;

async function slack(): Promise<EverydayPlatform> {
  const tokens = { botToken: "xoxb-12-34-bot-token-of-the-house", appToken: "xapp-1-A0APP-34-app-token-of-the-house" };
  const person = "U0PERSON1";
  const stranger = "U0STRANGE";
  const people = [
    { id: person, name: "ada", displayName: "Ada" },
    { id: stranger, name: "eve" },
  ];
  const platform = await startSlack({ ...tokens, people });
  for (const { id } of people) platform.workspace.dm(id);
  return {
    id: "slack",
    chat: slackDmOf(person),
    person,
    secrets: Object.values(tokens),
    requests: platform.requests,
    section: (keys = "") => `[channels_config.slack]
bot_token = "${tokens.botToken}"
app_token = "${tokens.appToken}"
allowed_users = ["${person}"]
api_url = "${platform.apiUrl}"
${keys}`,
    write: (text, who) => void platform.write({ text, from: who === "stranger" ? stranger : person, atMs: Date.now() }),
    press: (approved) =>
      platform.press({ from: person, approved, atMs: Date.now(), id: `press-${(slackPresses += 1)}` }),
    seen: () => platform.sent.filter(({ message }) => message.user === undefined || message.user === SLACK_BOT.user),
    close: () => platform.close(),
  };
}
