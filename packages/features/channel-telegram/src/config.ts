/** The section of the config. */
import { ackReaction, allowlist, apiUrl, channelKeys, secret, streamKeys } from "@svc/contract";
import * as v from "valibot";

/** An edit a second is what the platform lets through in a chat of two. */
const DRAFT_INTERVAL_MS = 1_000;

const keys = v.strictObject({
  bot_token: v.pipe(
    secret({ env: "SVC_TELEGRAM_BOT_TOKEN", envMode: "override" }),
    // It becomes a part of every URL.
    v.regex(/^[A-Za-z0-9_:-]+$/, "the token that @BotFather gives: digits, a colon, letters"),
    v.description("Token of the bot, from @BotFather."),
  ),
  allowed_users: allowlist("People, by their numeric id or @username,"),
  mode: v.optional(
    v.pipe(
      v.picklist(["polling", "webhook"]),
      v.description("polling: svc polls the platform. webhook: the platform posts to /telegram."),
    ),
    "polling",
  ),
  webhook_secret: v.optional(
    v.pipe(
      secret({ generate: true }),
      v.regex(/^[A-Za-z0-9_-]{1,256}$/, "1 to 256 of the characters A-Z a-z 0-9 _ -"),
      v.description("Secret that the platform sends with each post. Required in webhook mode."),
    ),
  ),
  mention_only: v.optional(
    v.pipe(
      v.boolean(),
      v.description("In groups, answer only messages that mention the bot, reply to it or are one of its commands."),
    ),
    true,
  ),
  ack_reaction: ackReaction("👀"),
  api_url: apiUrl("https://api.telegram.org"),
  ...streamKeys(DRAFT_INTERVAL_MS),
  ...channelKeys,
});

export const config = v.pipe(
  keys,
  v.forward(
    v.partialCheck(
      [["mode"], ["webhook_secret"]],
      ({ mode, webhook_secret: given }) => mode !== "webhook" || (given ?? "").trim() !== "",
      "is required in webhook mode: without it anyone could post",
    ),
    ["webhook_secret"],
  ),
  v.forward(
    v.partialCheck(
      [["ack_reaction"]],
      ({ ack_reaction: emoji }) => emoji.trim() === "" || reactionEmoji(emoji) !== undefined,
      "one of the reactions that the platform lets bots set, such as 👀 👍 ✍; blank for none",
    ),
    ["ack_reaction"],
  ),
);

export type Config = v.InferOutput<typeof config>;

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
