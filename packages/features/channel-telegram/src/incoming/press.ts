/** A press on a button of a question of ours. https://core.telegram.org/bots/api#callbackquery */
import type { Inbound, Json } from "@svc/contract";
import { type Fields, fieldsOf, idOf, listOf, textOf, wordOf } from "../fields.ts";
import { choiceOf } from "../outgoing/button.ts";
import { conversationOf, type MessageReading } from "./message.ts";

export interface ReadPress {
  /** Undefined for a button of another's making. */
  readonly inbound: Inbound | undefined;
  /** The app shows that it waits until this is answered. */
  readonly queryId: string;
}

/** Undefined for who may not write. */
export function readPress(
  query: Fields,
  { me, senderOf }: Pick<MessageReading, "me" | "senderOf">,
  receivedAtMs: number,
): ReadPress | undefined {
  const queryId = wordOf(query["id"]);
  const message = fieldsOf(query["message"]);
  const chat = fieldsOf(message["chat"]);
  const chatId = idOf(chat["id"]);
  const sender = queryId === undefined || chatId === undefined ? undefined : senderOf(query);
  if (queryId === undefined || chatId === undefined || sender === undefined) return undefined;
  const data = textOf(query["data"]) ?? "";
  const choice = choiceOf(data);
  if (choice === undefined) return { queryId, inbound: undefined };
  return {
    queryId,
    inbound: {
      id: `${me.id}:press:${queryId}`,
      conversation: conversationOf(chatId, message),
      ...sender,
      ...(chat["type"] !== "private" && { group: true }),
      text: labelOf(message["reply_markup"], data) ?? (choice.approved ? "Approve" : "Reject"),
      choice,
      // The platform tells when the question was asked, not when the button was pressed.
      sentAtMs: receivedAtMs,
    },
  };
}

/** Of the button that says this. The platform leaves the buttons of an old message out. */
function labelOf(markup: Json | undefined, data: string): string | undefined {
  const buttons = listOf(fieldsOf(markup)["inline_keyboard"]).flatMap(listOf).map(fieldsOf);
  return wordOf(buttons.find((button) => button["callback_data"] === data)?.["text"]);
}
