/** What the platform says of a message that it took. */
import type { Conversation, Json, Receipt } from "@svc/contract";
import { fieldsOf, idOf } from "../fields.ts";
import { targetOf } from "./target.ts";

/**
 * An answer that can't be read is an acceptance all the same. Where the chat has another id there than it was written to
 * by (a group that has moved, a @username), answers come in from that.
 */
export function receiptOf(answer: Json | undefined, conversation: Conversation): Receipt {
  const { message_id: messageId, chat } = fieldsOf(answer);
  const platformId = idOf(messageId);
  const chatId = idOf(fieldsOf(chat)["id"]);
  const { threadId } = targetOf(conversation);
  const isElsewhere = chatId !== undefined && String(chatId) !== conversation.id;
  const thread = threadId === undefined ? {} : { thread: String(threadId) };
  return {
    ...(platformId !== undefined && { platformId: String(platformId) }),
    ...(isElsewhere && { opened: { channel: conversation.channel, id: String(chatId), ...thread } }),
  };
}
