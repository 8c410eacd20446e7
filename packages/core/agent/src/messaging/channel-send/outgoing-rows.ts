/** One thing to say as rows of the outbox: as many messages as the channel's limit makes of its text, and its files. */
import { DEFAULT_MAX_CHARS, type Channel, type Conversation, type Json } from "@svc/contract";
import { laneOf, splitText } from "@svc/kit";
import type { KeptFile, NewDelivery } from "@svc/store";

export interface Saying {
  readonly conversation: Conversation;
  readonly text: string;
  readonly files: readonly KeptFile[];
  readonly replyData?: Json | undefined;
  readonly turnId?: string | undefined;
  /** Names one of its rows, by its place from 1 on. */
  readonly keyOf?: (part: number) => string;
}

/**
 * The text, then each file on its own: one that is tried again takes nothing along that has arrived. Nothing comes of a
 * blank text without files.
 */
export function outgoingRows(channel: Pick<Channel, "text"> | undefined, saying: Saying): NewDelivery[] {
  const { conversation, text, files, replyData, turnId, keyOf } = saying;
  const lane = laneOf(conversation);
  const texts = splitText(text, channel?.text?.maxChars ?? DEFAULT_MAX_CHARS);
  const parts = [
    ...texts.map((part) => ({ text: part, files: [] })),
    ...files.map((file) => ({ text: "", files: [file] })),
  ];
  return parts.map((part, index) => ({
    ...part,
    conversation,
    lane,
    ...(replyData !== undefined && { replyData }),
    ...(turnId !== undefined && { turnId }),
    ...(keyOf && { key: keyOf(index + 1) }),
  }));
}
