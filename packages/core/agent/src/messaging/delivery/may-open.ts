/** Whether somebody decided that a message is said there, so that it may open a conversation: `channel_send`, `svc send`. */
import type { Delivery } from "@svc/store";

/** Begins the keys of what a person sends: `svc send`. */
export const SENT_BY_PERSON = "send:";

/** Answers have data of what they answer; questions, and what tells of their end, have keys of their own; notices have none. */
export function mayOpen({ key, turnId, replyData }: Pick<Delivery, "key" | "turnId" | "replyData">): boolean {
  if (key === undefined || replyData !== undefined) return false;
  return key.startsWith(SENT_BY_PERSON) || (turnId !== undefined && key.startsWith(`${turnId}:`));
}
