/** Updates as the platform makes them, and their delivery to a webhook. https://core.telegram.org/bots/api#update */
import type { Json, SampleDelivery } from "@svc/contract";
import { createHash } from "node:crypto";

type Fields = Readonly<Record<string, Json>>;

export interface TelegramMessage {
  /** Any text: the platform's numbers are made of it. */
  readonly id: string;
  /** Id of the user who writes. */
  readonly from: string;
  readonly atMs: number;
  readonly text?: string;
  /** Default: the private chat with them. */
  readonly chat?: Fields;
  /** More of the sender, e.g. `username`. */
  readonly user?: Fields;
  /** More of the message, or other than the above. */
  readonly more?: Fields;
}

export const telegramUser = (id: string | number, more: Fields = {}): Fields => ({
  id: Number(id),
  is_bot: false,
  first_name: "Ada",
  last_name: "Lovelace",
  language_code: "en",
  ...more,
});

export const privateChat = (id: string | number): Fields => ({
  id: Number(id),
  type: "private",
  first_name: "Ada",
  last_name: "Lovelace",
});

/** What an update has beside its number. */
export function telegramMessage({ id, from, atMs, text, chat, user, more = {} }: TelegramMessage): Fields {
  return {
    message_id: numberOf(id),
    from: telegramUser(from, user),
    chat: chat ?? privateChat(from),
    date: Math.floor(atMs / 1000),
    ...(text !== undefined && { text }),
    ...more,
  };
}

export interface TelegramPress {
  readonly id: string;
  readonly from: string;
  /** What the button says to the bot. */
  readonly data: string;
  /** The message with the button. */
  readonly message: Fields;
  readonly user?: Fields;
}

export const telegramPress = ({ id, from, data, message, user }: TelegramPress): Fields => ({
  id: `4382${numberOf(id)}`,
  from: telegramUser(from, user),
  message,
  chat_instance: "-3914012304829038411",
  data,
});

/** The same each time, so that what is made again is the same again. */
export const numberOf = (text: string): number => createHash("sha256").update(text).digest().readUInt32BE(0) >>> 1;

/** `secret`: undefined where none was set with the webhook. */
export const telegramDelivery = (update: Fields, secret: string | undefined): SampleDelivery =>
  postedByTelegram(Buffer.from(JSON.stringify(update)), secret);

export const postedByTelegram = (body: Uint8Array, secret: string | undefined): SampleDelivery => ({
  method: "POST",
  query: "",
  headers: {
    "content-type": "application/json",
    ...(secret !== undefined && { "X-Telegram-Bot-Api-Secret-Token": secret }),
  },
  body,
});
