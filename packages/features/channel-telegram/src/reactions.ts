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
