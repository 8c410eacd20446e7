/** One bot: messages come in by polling or a webhook, answers go out through the Bot API. */
import type { Channel, Contributions, Conversation, Drafts, FeatureContext } from "@svc/contract";
import { MEDIA_KINDS, asFinal, checkFailureOf, runChannel, sentPartsIn } from "@svc/kit";
import { accountLine, createIdentity, setupOf } from "./account.ts";
import { type Polling, createPolling, ingressOf } from "./arrivals.ts";
import { NotModified, createBotApi } from "./bot-api.ts";
import type { Config } from "./config.ts";
import { MAX_FILE_BYTES, mediaFetch } from "./files.ts";
import { type MessageReading, messageRefOf, senderReader } from "./message.ts";
import {
  GROUP_DRAFT_MS,
  type Post,
  createPacing,
  createPost,
  isGroup,
  messageNumber,
  migrationsIn,
  targetOf,
} from "./post.ts";
import { promptPoster } from "./prompts.ts";
import { NO_PREVIEW, TEXT_CHARS, formatted, messageSender } from "./send.ts";
import { updateReader } from "./updates.ts";
import { type ReactionEmoji, reactionEmoji } from "./protocol.ts";

export function create(context: FeatureContext<Config>): Contributions {
  const { config, log } = context;
  const api = createBotApi(context);
  const identity = createIdentity(api, context);
  const post = createPost({ api, migrations: migrationsIn(context), pacing: createPacing(context.clock) });
  const send = messageSender({ api, post, sentParts: sentPartsIn(context) });
  const check = (signal: AbortSignal): Promise<string> => accountLine({ api, identity, config }, signal);
  const drafts = draftsOf(config, post);

  const senderOf = senderReader({ allowed: config.allowed_users, approvers: config.approvers, log });
  const read = updateReader((): MessageReading | undefined => {
    const { id, username } = identity;
    return id === undefined ? undefined : { me: { id, username }, mentionOnly: config.mention_only, senderOf };
  });

  const channel: Channel = {
    text: { maxChars: TEXT_CHARS },
    send,
    ...presenceOf(config, post),
    ...(drafts && { drafts }),
    prompts: promptPoster(post, send),
    media: { maxBytes: MAX_FILE_BYTES, sends: MEDIA_KINDS, voiceNotes: true, fetch: mediaFetch(api, context) },
    check,
    setup: setupOf(api, config),
  };
  const isPolling = config.mode === "polling";
  return {
    channel,
    ingress: isPolling ? [] : [ingressOf(config, read)],
    async register(signal) {
      signal.throwIfAborted();
      await identity.recall();
    },
    run: runOf({ check, polling: isPolling ? createPolling({ api, read, context }) : undefined, context }),
  };
}

export interface RunDeps {
  readonly check: (signal: AbortSignal) => Promise<string>;
  /** Undefined in webhook mode. */
  readonly polling: Polling | undefined;
  readonly context: Pick<FeatureContext, "log">;
}

function runOf({ check, polling, context }: RunDeps): NonNullable<Contributions["run"]> {
  if (polling === undefined) return (signal) => runChannel(check, context.log, signal);
  return async (signal) => {
    try {
      signal.throwIfAborted();
      context.log.info("the platform knows this channel", { account: await check(signal) });
      await polling(signal);
    } catch (error) {
      if (!signal.aborted) throw asFinal(checkFailureOf(error));
    }
  };
}

// What people see while an answer is made: a draft that grows, that the bot writes, a reaction.

// Answers that people see being written: a message that is edited as it grows. https://core.telegram.org/bots/api#editmessagetext

/** Undefined: they are off. */
function draftsOf(
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

function presenceOf(
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
