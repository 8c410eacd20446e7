/** Answers that people see being written: a message that is edited as it grows. https://core.telegram.org/bots/api#editmessagetext */
import type { Drafts } from "@svc/contract";
import { NotModified } from "../api/special-refusals.ts";
import type { Config } from "../config.ts";
import { formatted, NO_PREVIEW, TEXT_CHARS } from "./formatted.ts";
import { GROUP_DRAFT_MS } from "./pacing.ts";
import type { Post } from "./post.ts";
import { isGroup, messageNumber, targetOf } from "./target.ts";

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
