/** Answers that people see being written: the core sends the beginning, edits it as it grows, and ends it from the outbox. */
import type { Conversation } from "./channel.ts";
import type { Json } from "./json.ts";

export interface Drafts {
  /**
   * `partial`: the beginning of an answer is sent, and edited as it grows. `multi_message`: each paragraph is a message as soon
   * as it is complete.
   */
  readonly mode: "partial" | "multi_message";
  /** At least so long between two edits there, in milliseconds; the platform's own limits included. */
  intervalMs(conversation: Conversation): number;
  /**
   * Replaces the text of a message that `send` sent; the same text is no error. Throws as `send`: DELIVERY_REFUSED
   * when the message is gone or can't be edited any more, and then the text is sent as a new message.
   */
  edit(sent: SentMessage, text: string, signal: AbortSignal): Promise<void>;
}

/** A message of ours on the platform. */
export interface SentMessage {
  readonly conversation: Conversation;
  /** `Receipt.platformId`. */
  readonly platformId: string;
  /** `OutgoingMessage.replyData` of what was sent. */
  readonly replyData?: Json;
}
