/** A delivery as the platform posts it: https, a JSON object, no signature. */
import type { Json, SampleDelivery } from "@svc/contract";

export interface ProviderCMessage {
  readonly id: string;
  /** Number of who wrote, with or without `+`. */
  readonly from: string;
  readonly text: string | null;
  readonly atMs: number;
  /** Default: text. */
  readonly type?: string;
  /** Link of the file. */
  readonly data?: Json;
  /** Written by the account itself, and repeated to it. */
  readonly own?: boolean;
}

/** `token`: what the callback URL ends with, if anything. */
export function providerCDelivery(message: ProviderCMessage, token: string | undefined): SampleDelivery {
  const { id, from, text, atMs, type = "text", data = null } = message;
  const payload = {
    id,
    created: new Date(atMs).toISOString(),
    whatsappMessageId: `wamid.${id}`,
    conversationId: `conversation with ${from}`,
    ticketId: "69280a6d6244a6d9b9b486e9",
    text,
    type,
    data,
    timestamp: String(Math.floor(atMs / 1000)),
    owner: message.own === true,
    eventType: "message",
    statusString: "SENT",
    waId: from.replace("+", ""),
    senderName: "Ann",
    listReply: null,
    interactiveButtonReply: null,
    buttonReply: null,
    replyContextId: "",
    channelPhoneNumber: "15550009999",
  };
  return providerCPosted(Buffer.from(JSON.stringify(payload)), token);
}

/** Any body, as the platform would post it. */
export const providerCPosted = (body: Uint8Array, token: string | undefined): SampleDelivery => ({
  method: "POST",
  query: token === undefined ? "" : `?${new URLSearchParams({ token }).toString()}`,
  headers: { "content-type": "application/json" },
  body,
});
