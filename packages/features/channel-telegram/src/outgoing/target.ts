/** Where a message goes, as the platform wants it. https://core.telegram.org/bots/api#sendmessage */
import { type Conversation, SvcError } from "@svc/contract";

export interface Target {
  /** A number, or the @username of a public group or channel. */
  readonly chatId: number | string;
  /** A topic's number. */
  readonly threadId: number | undefined;
}

/**
 * `-1001234567890`, `@somewhere`; also `-1001234567890/12`, since a `notification_target` may be a topic. Throws
 * DELIVERY_REFUSED for what is none of them.
 */
export function targetOf({ id, thread }: Conversation): Target {
  const [, chat, topic = thread] = /^(-?[1-9]\d{0,15}|@[A-Za-z]\w{3,31})(?:\/(\d{1,10}))?$/.exec(id.trim()) ?? [];
  if (chat === undefined || (topic !== undefined && !/^\d{1,10}$/.test(topic))) {
    throw new SvcError("DELIVERY_REFUSED", "This is no chat of the platform.", {
      hint: "Write the number of a chat, such as 123456789 or -1001234567890, or the @username of a public group.",
    });
  }
  // General has the number 1, and takes messages only without it.
  const threadId = topic === undefined || Number(topic) <= 1 ? undefined : Number(topic);
  return { chatId: chat.startsWith("@") ? chat : Number(chat), threadId };
}

/** Groups and channels have negative numbers. */
export const isGroup = (chatId: number | string): boolean => typeof chatId === "string" || chatId < 0;

/** A message of ours by its number. Throws DELIVERY_REFUSED for what is none. */
export function messageNumber(platformId: string): number {
  if (!/^[1-9]\d{0,15}$/.test(platformId)) {
    throw new SvcError("DELIVERY_REFUSED", "This is no message of the platform.");
  }
  return Number(platformId);
}
