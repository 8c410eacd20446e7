/** What people see while an answer is made: a draft that grows, that the bot writes, a reaction. */
import type { Channel, Conversation, Drafts } from "@svc/contract";
import { NotModified } from "./bot-api.ts";
import type { Config } from "./config.ts";
import { messageRefOf } from "./message.ts";
import { GROUP_DRAFT_MS, isGroup, messageNumber, type Post, targetOf } from "./post.ts";
import { type ReactionEmoji, reactionEmoji } from "./protocol.ts";
import { formatted, NO_PREVIEW, TEXT_CHARS } from "./send.ts";

// Answers that people see being written: a message that is edited as it grows. https://core.telegram.org/bots/api#editmessagetext

/** Undefined: they are off. */
export function draftsOf(
  { stream_mode: mode, draft_update_interval_ms: ownMs }: Pick<Config, "stream_mode" | "draft_update_interval_ms">,
  post: Post,
): Drafts | undefined {
  if (mode === "off") return undefined;
  return {
    mode,
    intervalMs(conversation) {
      const { chatId } = targetOf(conversation);
      return isGroup(chatId) ? Math.max(ownMs, GROUP_DRAFT_MS) : ownMs;
    },
    async edit({ conversation, platformId }, text, signal) {
      signal.throwIfAborted();
      const { chatId } = targetOf(conversation);
      const message_id = messageNumber(platformId);
      try {
        await formatted(text, TEXT_CHARS, (words) =>
          post(
            chatId,
            (raw, chat_id, s) => raw.editMessageText({ chat_id, message_id, ...words, ...NO_PREVIEW }, s),
            signal,
            "edit",
          ),
        );
      } catch (error) {
        if (!(error instanceof NotModified)) throw error;
      }
    },
  };
}

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
  const ref = messageRefOf(messageId);
  // A press on a button has no message to react to.
  if (ref === undefined) return;
  const reaction = emoji === undefined ? [] : [{ type: "emoji" as const, emoji }];
  await post(
    ref.chatId,
    (raw, chat_id, s) => raw.setMessageReaction({ chat_id, message_id: ref.messageId, reaction }, s),
    signal,
    "sign",
  );
}
