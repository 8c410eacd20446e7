/** One message of a delivery. */
import type { Inbound, Json } from "@svc/contract";
import { phoneOf, userIdOf } from "./address.ts";
import { CHANNEL } from "./names.ts";
import { contentOf } from "./content.ts";
import { type Fields, fieldsOf, textOf } from "./fields.ts";

/** What `send` is handed back with the answer. */
export interface ReplyData {
  /** The message that is answered. */
  readonly messageId: string;
  /** The earlier message that it quoted, or reacted to. */
  readonly contextId: string;
}

/** Undefined for a kind that nobody can answer, and for one without a sender. */
export function inboundOf(message: Fields, contacts: readonly Fields[], receivedAtMs: number): Inbound | undefined {
  const sender = senderOf(message);
  const content = contentOf(message);
  if (sender === undefined || content === undefined) return undefined;
  const { contextId, ...said } = content;
  const id = textOf(message["id"]);
  const groupId = textOf(message["group_id"]);
  const name = nameOf(message, contacts);
  const quoted = contextId ?? textOf(fieldsOf(message["context"])["id"]);
  const replyData: (ReplyData & { readonly [key: string]: Json }) | undefined =
    id !== undefined && quoted !== undefined ? { messageId: id, contextId: quoted } : undefined;
  return {
    ...said,
    ...(id !== undefined && { id }),
    conversation: { channel: CHANNEL, id: groupId ?? sender },
    sender,
    ...(name !== undefined && { senderName: name }),
    ...(groupId !== undefined && { group: true }),
    sentAtMs: timeOf(message["timestamp"]) ?? receivedAtMs,
    ...(replyData !== undefined && { replyData }),
  };
}

/** The number where there is one: what is sent to a number is answered from that number. */
function senderOf({ from, from_user_id: userId }: Fields): string | undefined {
  return phoneOf(textOf(from) ?? "") ?? userIdOf(textOf(userId) ?? "");
}

/** The only contact is the sender's, even where its id differs from the number, as in some countries. */
function nameOf({ from, from_user_id: userId }: Fields, contacts: readonly Fields[]): string | undefined {
  const isSender = ({ wa_id, user_id }: Fields): boolean =>
    (wa_id !== undefined && wa_id === from) || (user_id !== undefined && user_id === userId);
  const contact = contacts.find(isSender) ?? (contacts.length === 1 ? contacts[0] : undefined);
  const { name, username } = fieldsOf(contact?.["profile"]);
  return textOf(name) ?? textOf(username);
}

/** Seconds, as text. Beyond what a date can hold it is no time. */
function timeOf(timestamp: Json | undefined): number | undefined {
  const text = typeof timestamp === "number" ? String(timestamp) : textOf(timestamp);
  return text !== undefined && /^\d{1,12}$/.test(text) ? Number(text) * 1000 : undefined;
}
