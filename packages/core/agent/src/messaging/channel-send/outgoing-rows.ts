/** One thing to say as rows of the outbox: as many messages as the channel's limit makes of its text. */
import type { Channel, Conversation, Json } from "@svc/contract";
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

/** What a platform takes of which nothing else is known. */
const DEFAULT_MAX_CHARS = 4_000;

/** Files follow the text: the last row has them all. Nothing comes of a blank text without files. */
export function outgoingRows(channel: Pick<Channel, "text"> | undefined, saying: Saying): NewDelivery[] {
  const { conversation, text, files, replyData, turnId, keyOf } = saying;
  const parts = splitText(text, channel?.text?.maxChars ?? DEFAULT_MAX_CHARS);
  const texts = parts.length === 0 && files.length > 0 ? [""] : parts;
  const lane = laneOf(conversation);
  return texts.map((part, index) => ({
    conversation,
    lane,
    text: part,
    files: index === texts.length - 1 ? files : [],
    ...(replyData !== undefined && { replyData }),
    ...(turnId !== undefined && { turnId }),
    ...(keyOf && { key: keyOf(index + 1) }),
  }));
}
