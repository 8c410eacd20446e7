/**
 * "… is writing", which marks the message as read too: the platform knows it only as an answer to a message.
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/typing-indicators
 */
import type { Channel } from "@svc/contract";
import type { GraphApi } from "./graph.ts";
import { PRODUCT } from "./names.ts";

export const TYPING_LASTS_MS = 25_000;

export const startTyping =
  (graph: GraphApi, phoneNumberId: string): NonNullable<Channel["typing"]>["start"] =>
  async (_conversation, messageId, signal) => {
    if (messageId === undefined) return;
    const mark = { messaging_product: PRODUCT, status: "read", message_id: messageId };
    await graph.post(`${phoneNumberId}/messages`, { ...mark, typing_indicator: { type: "text" } }, signal);
  };
