/** A delivery as the platform makes it, for `svc webhook send` and tests: https://docs.wati.io/reference/message-received */
import type { SampleDelivery, SampleMessage } from "@svc/contract";
import type { Config } from "./index.ts";
import { phoneOf } from "./target.ts";

export function sampleOf(config: Config, { text, from, id, atMs }: SampleMessage): SampleDelivery {
  const sender = from ?? config.allowed_numbers.find((entry) => entry !== "*") ?? NOBODY;
  const payload = {
    id,
    created: new Date(atMs).toISOString(),
    whatsappMessageId: `wamid.${Buffer.from(id).toString("base64")}`,
    conversationId: "svc-webhook-send",
    ticketId: "svc-webhook-send",
    text,
    type: "text",
    data: null,
    sourceId: null,
    sourceUrl: null,
    timestamp: String(Math.floor(atMs / 1000)),
    owner: false,
    eventType: "message",
    statusString: "SENT",
    avatarUrl: null,
    assignedId: null,
    operatorName: null,
    operatorEmail: null,
    waId: phoneOf(sender)?.slice(1) ?? sender,
    messageContact: null,
    senderName: "svc webhook send",
    listReply: null,
    interactiveButtonReply: null,
    buttonReply: null,
    replyContextId: "",
    sourceType: 0,
    frequentlyForwarded: false,
    forwarded: false,
    channelId: null,
    channelPhoneNumber: config.tenant_id ?? null,
  };
  const { callback_token: token } = config;
  return {
    method: "POST",
    query: token === undefined ? "" : `?${new URLSearchParams({ token }).toString()}`,
    headers: { "content-type": "application/json" },
    body: Buffer.from(JSON.stringify(payload)),
  };
}

/** A number of the range for examples (555-0100 to 555-0199). */
const NOBODY = "+15555550100";
