/** A delivery as the platform makes it today, for `svc webhook send` and tests. */
import { hash } from "node:crypto";
import type { SampleDelivery, SampleMessage } from "@svc/contract";
import type { Config } from "./index.ts";
import { signatureHeaders } from "./signature.ts";

export function sampleOf(config: Config, { text, from, id, atMs }: SampleMessage): SampleDelivery {
  const sender = from ?? config.allowed_senders.find((entry) => entry !== "*") ?? NOBODY;
  const at = new Date(atMs).toISOString();
  const handle = { service: "iMessage", status: "active", joined_at: at, left_at: null };
  const payload = {
    api_version: "v3",
    webhook_version: "2026-02-03",
    event_type: "message.received",
    event_id: uuidOf(`event ${id}`),
    created_at: at,
    trace_id: hash("md5", id, "hex"),
    partner_id: "svc-webhook-send",
    data: {
      id,
      direction: "inbound",
      chat: {
        id: chatOf(sender),
        is_group: false,
        owner_handle: { id: uuidOf(config.from_phone), handle: config.from_phone, is_me: true, ...handle },
        health_status: { status: "HEALTHY", updated_at: at, doc_url: "" },
      },
      sender_handle: { id: uuidOf(sender), handle: sender, is_me: false, ...handle },
      parts: [{ type: "text", value: text, text_decorations: null }],
      service: "iMessage",
      preferred_service: "auto",
      effect: null,
      reply_to: null,
      idempotency_key: null,
      sent_at: at,
      delivered_at: null,
      read_at: null,
    },
  };
  const body = Buffer.from(JSON.stringify(payload));
  const signed = config.signing_secret === undefined ? {} : signatureHeaders(config.signing_secret, body, atMs);
  const headers = { "content-type": "application/json", "x-webhook-event": "message.received", ...signed };
  return { method: "POST", query: "", headers, body };
}

/** A number of the range for examples (555-0100 to 555-0199). */
const NOBODY = "+15555550100";

/**
 * The platform knows no such chat, and says so: then the answer begins a real one with the sender. Of one sender always
 * the same, so that several samples are one conversation.
 */
const chatOf = (sender: string): string => uuidOf(`chat with ${sender}`);

/** Ids there are UUIDs, and others are refused as malformed (RFC 9562, version 8: of anything). */
function uuidOf(text: string): string {
  const hex = hash("sha256", text, "hex");
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    "-",
  );
}
