/**
 * Read marks, and "… is writing", which the platform knows only as an answer to a message and which marks it as read too.
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/messages/mark-message-as-read
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/typing-indicators
 */
import type { Channel } from "@svc/contract";
import type { GraphApi } from "./graph.ts";
import { PRODUCT } from "./protocol.ts";

const TYPING_LASTS_MS = 25_000;

type Presence = Required<Pick<Channel, "readMarks" | "typing">>;

export function presenceOf(graph: GraphApi, phoneNumberId: string): Presence {
  const read = (messageId: string) => ({ messaging_product: PRODUCT, status: "read", message_id: messageId });
  const path = `${phoneNumberId}/messages`;
  return {
    readMarks: {
      async mark(_conversation, messageId, signal) {
        await graph.post(path, read(messageId), signal);
      },
    },
    typing: {
      lastsMs: TYPING_LASTS_MS,
      async start(_conversation, messageId, signal) {
        if (messageId === undefined) return;
        await graph.post(path, { ...read(messageId), typing_indicator: { type: "text" } }, signal);
      },
    },
  };
}
