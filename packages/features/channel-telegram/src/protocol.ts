/** Names and shapes of the Bot API that several modules use, and fields of its JSON, read without trust. https://core.telegram.org/bots/api */
import type { Json } from "@svc/contract";
import type { Fields } from "@svc/kit";

/** The channel's id: the last part of the section's name. */
export const CHANNEL = "telegram";

/** Kinds of updates that the channel subscribes to. https://core.telegram.org/bots/api#update */
export const UPDATE_KINDS = ["message", "callback_query", "message_reaction"] as const;

/** Our commands, as the menu of the platform shows them. The core answers them. */
export const COMMANDS: readonly { readonly command: string; readonly description: string }[] = Object.freeze([
  { command: "new", description: "Begin a new conversation" },
  { command: "model", description: "Show the model, or choose another one" },
  { command: "status", description: "Show how things are" },
  { command: "stop", description: "Stop what is running" },
  { command: "help", description: "Show what can be done here" },
]);

/** The reactions that bots may set. https://core.telegram.org/bots/api#reactiontypeemoji */
const EMOJI: ReadonlySet<string> = new Set(
  (
    "👍 👎 ❤ 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤‍🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓 🍾 💋 🖕 😈 😴 😭 🤓 👻 " +
    "👨‍💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷‍♂ 🤷 🤷‍♀ 😡"
  ).split(" "),
);

export type ReactionEmoji = Extract<import("grammy/types").ReactionType, { type: "emoji" }>["emoji"];

/** As the platform writes it; undefined: bots may not set it. People's keyboards add a selector that it leaves out. */
export function reactionEmoji(text: string): ReactionEmoji | undefined {
  const emoji = text.trim().replaceAll("\uFE0F", "");
  return EMOJI.has(emoji) ? (emoji as ReactionEmoji) : undefined;
}

export { type Fields, fieldsOf, listOf, textOf, wordOf } from "@svc/kit";

/** Undefined where there is no such object. */
export const someFields = (value: Json | undefined): Fields | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;

/** Ids of the platform are whole numbers of at most 52 bits. https://core.telegram.org/bots/api#user */
export const idOf = (value: Json | undefined): number | undefined =>
  Number.isSafeInteger(value) && value !== 0 ? (value as number) : undefined;

export const numberOf = (value: Json | undefined): number | undefined =>
  typeof value === "number" && Number.isFinite(value) ? value : undefined;
