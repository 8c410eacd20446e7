/** Questions with buttons below them. https://core.telegram.org/bots/features#inline-keyboards */
import type { Channel, Inbound, Prompt, Prompts } from "@svc/contract";
import { NotModified } from "./bot-api.ts";
import { messageNumber, type Post, targetOf } from "./post.ts";
import { NO_PREVIEW, placingOf, receiptOf, TEXT_CHARS } from "./send.ts";

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

/** The edit removes the buttons, as it sends none. A question that is too long is cut. */
function ended(text: string, outcome: string): string {
  const end = `\n\n${outcome.slice(0, TEXT_CHARS / 2)}`;
  const room = TEXT_CHARS - end.length;
  const asked = text.length <= room ? text : `${text.slice(0, room - 1)}…`;
  return (asked + end).toWellFormed();
}

/**
 * What a button of a question says to us when it is pressed. https://core.telegram.org/bots/api#inlinekeyboardbutton
 */
const callbackData = (promptId: string, isApproval: boolean): string => `p:${promptId}:${isApproval ? "y" : "n"}`;

/** Undefined for a button of another's making. */
export function choiceOf(data: string): Inbound["choice"] {
  const [, prompt, answer] = /^p:([a-z0-9-]{1,32}):([yn])$/.exec(data) ?? [];
  return prompt === undefined ? undefined : { prompt, approved: answer === "y" };
}

/** Longer ones are cut off on a phone. */
const MAX_LABEL_CHARS = 64;

/** Undefined if the labels don't fit buttons: the question is then sent as text. */
function keyboardOf({ id, approve, reject }: Prompt) {
  const fits = (label: string): boolean => label.trim() !== "" && label.length <= MAX_LABEL_CHARS;
  if (!fits(approve) || !fits(reject)) return undefined;
  const buttons = [
    { text: approve, callback_data: callbackData(id, true) },
    { text: reject, callback_data: callbackData(id, false) },
  ];
  return { inline_keyboard: [buttons] };
}
