/** What people see beside messages: that somebody writes, and a reaction on what is being answered. */
import type { Channel, Conversation } from "@svc/contract";
import type { Config } from "../config.ts";
import { placeOf } from "../incoming/message-id.ts";
import { type ReactionEmoji, reactionEmoji } from "../reactions.ts";
import type { Post } from "./post.ts";
import { targetOf } from "./target.ts";

/** https://core.telegram.org/bots/api#sendchataction */
const TYPING_LASTS_MS = 5_000;

export function presenceOf(
  { ack_reaction: ack }: Pick<Config, "ack_reaction">,
  post: Post,
): Pick<Channel, "typing" | "readMarks"> {
  const emoji = reactionEmoji(ack);
  return {
    typing: {
      lastsMs: TYPING_LASTS_MS,
      async start(conversation, _messageId, signal) {
        signal.throwIfAborted();
        const { chatId, threadId } = targetOf(conversation);
        const thread = threadId === undefined ? {} : { message_thread_id: threadId };
        await post(
          chatId,
          (raw, chat_id, s) => raw.sendChatAction({ chat_id, ...thread, action: "typing" }, s),
          signal,
          "sign",
        );
      },
    },
    ...(emoji && {
      readMarks: {
        mark: (conversation, messageId, signal) => react(post, { conversation, messageId, emoji }, signal),
        clear: (conversation, messageId, signal) => react(post, { conversation, messageId, emoji: undefined }, signal),
      },
    }),
  };
}

interface Mark {
  readonly conversation: Conversation;
  /** `Inbound.id`. */
  readonly messageId: string;
  /** Undefined: it is taken back. */
  readonly emoji: ReactionEmoji | undefined;
}

/** https://core.telegram.org/bots/api#setmessagereaction */
async function react(post: Post, { messageId, emoji }: Mark, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const place = placeOf(messageId);
  // A press on a button is no message.
  if (place === undefined) return;
  const reaction = emoji === undefined ? [] : [{ type: "emoji" as const, emoji }];
  await post(
    place.chatId,
    (raw, chat_id, s) => raw.setMessageReaction({ chat_id, message_id: place.messageId, reaction }, s),
    signal,
    "sign",
  );
}
