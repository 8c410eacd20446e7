/** One message of a delivery. */
import type { Inbound, Json } from "@svc/contract";
import { isGroupId, phoneOf, userIdOf } from "./address.ts";
import type { NameOf } from "./contacts.ts";
import { contentOf } from "./content.ts";
import { CHANNEL } from "./names.ts";
import { type Fields, fieldsOf, textOf, wordOf } from "./fields.ts";

/** What `send` is handed back with the answer. */
export interface ReplyData {
  /** The message that is answered. */
  readonly messageId: string;
  /** The earlier message that it quoted, or reacted to. */
  readonly contextId: string;
}

/** Undefined for a kind that nobody can answer, and for one without a sender. */
export function inboundOf(message: Fields, nameOf: NameOf, receivedAtMs: number): Inbound | undefined {
  const sender = senderOf(message);
  const content = contentOf(message);
  if (sender === undefined || content === undefined) return undefined;
  const { contextId, ...said } = content;
  const id = wordOf(message["id"]);
  const groupId = textOf(message["group_id"]);
  // It names the conversation wherever that is kept: one of a megabyte would be kept a dozen times, and nobody could answer.
  if (groupId !== undefined && !isGroupId(groupId)) return undefined;
  const name = nameOf(message);
  const context = fieldsOf(message["context"]);
  const repliesTo = wordOf(context["id"]);
  const quoted = contextId ?? repliesTo;
  const isForwarded = context["forwarded"] === true || context["frequently_forwarded"] === true;
  const replyData: (ReplyData & { readonly [key: string]: Json }) | undefined =
    id !== undefined && quoted !== undefined ? { messageId: id, contextId: quoted } : undefined;
  return {
    ...said,
    ...(id !== undefined && { id }),
    conversation: { channel: CHANNEL, id: groupId ?? sender },
    sender,
    ...(name !== undefined && { senderName: name }),
    ...(groupId !== undefined && { group: true }),
    ...(isForwarded && { secondHand: true }),
    ...(repliesTo !== undefined && { repliesTo }),
    sentAtMs: timeOf(message["timestamp"]) ?? receivedAtMs,
    ...(replyData !== undefined && { replyData }),
  };
}

/** The number where there is one: what is sent to a number is answered from that number. */
function senderOf({ from, from_user_id: userId }: Fields): string | undefined {
  return phoneOf(textOf(from) ?? "") ?? userIdOf(textOf(userId) ?? "");
}

/** Seconds, as text. Beyond what a date can hold it is no time. */
function timeOf(timestamp: Json | undefined): number | undefined {
  const text = typeof timestamp === "number" ? String(timestamp) : textOf(timestamp);
  return text !== undefined && /^\d{1,12}$/.test(text) ? Number(text) * 1000 : undefined;
}
