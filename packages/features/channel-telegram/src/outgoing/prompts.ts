/** Questions with buttons below them. https://core.telegram.org/bots/features#inline-keyboards */
import type { Channel, Prompts } from "@svc/contract";
import { NotModified } from "../api/special-refusals.ts";
import { keyboardOf } from "./button.ts";
import { NO_PREVIEW, TEXT_CHARS } from "./formatted.ts";
import { placingOf } from "./placing.ts";
import type { Post } from "./post.ts";
import { receiptOf } from "./receipt.ts";
import { messageNumber, targetOf } from "./target.ts";

/** `send`: for a question whose labels make no buttons. */
export function promptPoster(post: Post, send: Channel["send"]): Prompts {
  return {
    async post(message, prompt, signal) {
      signal.throwIfAborted();
      const reply_markup = keyboardOf(prompt);
      if (reply_markup === undefined) return send(message, signal);
      const { conversation } = message;
      const target = targetOf(conversation);
      const words = message.text.toWellFormed();
      // As it is: who asks for something chose the words, and no formatting may hide any of them.
      const answer = await post(
        target.chatId,
        (raw, chat_id, s) =>
          raw.sendMessage({ chat_id, text: words, reply_markup, ...placingOf(target, message), ...NO_PREVIEW }, s),
        signal,
      );
      return receiptOf(answer, conversation);
    },
    async close({ conversation, platformId, text }, outcome, signal) {
      signal.throwIfAborted();
      if (platformId === undefined) return;
      const { chatId } = targetOf(conversation);
      const message_id = messageNumber(platformId);
      try {
        await post(
          chatId,
          (raw, chat_id, s) =>
            raw.editMessageText({ chat_id, message_id, text: ended(text, outcome), ...NO_PREVIEW }, s),
          signal,
          "edit",
        );
      } catch (error) {
        if (!(error instanceof NotModified)) throw error;
      }
    },
  };
}

/** Without buttons, since none are sent along. Of a question that leaves no room the end gives way. */
function ended(text: string, outcome: string): string {
  const end = `\n\n${outcome.slice(0, TEXT_CHARS / 2)}`;
  const room = TEXT_CHARS - end.length;
  const asked = text.length <= room ? text : `${text.slice(0, room - 1)}…`;
  return (asked + end).toWellFormed();
}
