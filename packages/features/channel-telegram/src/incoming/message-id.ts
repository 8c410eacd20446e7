/**
 * The id that a message is known by. The platform numbers the messages of each chat, and those of a private chat anew for
 * each bot: all three together name one.
 */
export interface MessagePlace {
  readonly chatId: number;
  readonly messageId: number;
}

export const inboundId = (botId: number, { chatId, messageId }: MessagePlace): string =>
  `${botId}:${chatId}:${messageId}`;

/** Undefined for what is no message's, e.g. a press's. */
export function placeOf(inboundId: string): MessagePlace | undefined {
  const [, chatId, messageId] = /^\d{1,16}:(-?\d{1,16}):([1-9]\d{0,15})$/.exec(inboundId) ?? [];
  return chatId === undefined ? undefined : { chatId: Number(chatId), messageId: Number(messageId) };
}
