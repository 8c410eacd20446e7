/** A delivery as the platform posts it, in either of the two shapes that subscriptions have. */
import type { Json, SampleDelivery } from "@svc/contract";
import { createHmac } from "node:crypto";

export interface ProviderBMessage {
  readonly id: string;
  readonly chatId: string;
  /** Handle of who wrote. */
  readonly from: string;
  readonly text: string;
  readonly atMs: number;
  /** Further parts, as the platform has them. */
  readonly parts?: readonly Json[];
  readonly group?: boolean;
  /** Written by the line itself, and repeated to it. */
  readonly own?: boolean;
  /** Default: the newer one. */
  readonly version?: "2025-01-01" | "2026-02-03";
}

/** `secret`: without one it is not signed. */
export function providerBDelivery(message: ProviderBMessage, secret: string | undefined): SampleDelivery {
  const version = message.version ?? "2026-02-03";
  const event = {
    api_version: "v3",
    webhook_version: version,
    event_type: "message.received",
    event_id: `event of ${message.id}`,
    created_at: new Date(message.atMs).toISOString(),
    trace_id: "2eff5df5c6f688733c007523c4d61cd9",
    partner_id: "partner-1",
    data: version === "2025-01-01" ? flat(message) : nested(message),
  };
  return providerBSigned(Buffer.from(JSON.stringify(event)), secret, message.atMs);
}

/** Any body, as the platform would post it. */
export function providerBSigned(body: Uint8Array, secret: string | undefined, atMs: number): SampleDelivery {
  const timestamp = String(Math.floor(atMs / 1000));
  const signed = secret === undefined ? {} : { "x-webhook-signature": sign(secret, timestamp, body) };
  const headers = { "content-type": "application/json", "x-webhook-event": "message.received" };
  return { method: "POST", query: "", headers: { ...headers, "x-webhook-timestamp": timestamp, ...signed }, body };
}

const sign = (secret: string, timestamp: string, body: Uint8Array): string =>
  createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest("hex");

const partsOf = ({ text, parts = [] }: ProviderBMessage): Json[] => [
  ...(text === "" ? [] : [{ type: "text", value: text }]),
  ...parts,
];

const nested = (message: ProviderBMessage): Json => ({
  id: message.id,
  direction: message.own ? "outbound" : "inbound",
  chat: { id: message.chatId, is_group: message.group === true, owner_handle: { handle: "+15550009999", is_me: true } },
  sender_handle: { id: `handle of ${message.from}`, handle: message.from, is_me: message.own === true, service: "RCS" },
  parts: partsOf(message),
  service: "RCS",
  sent_at: new Date(message.atMs).toISOString(),
  delivered_at: null,
  read_at: null,
});

const flat = (message: ProviderBMessage): Json => ({
  chat_id: message.chatId,
  from: message.from,
  recipient_phone: "+15550009999",
  is_from_me: message.own === true,
  is_group: message.group === true,
  service: "RCS",
  received_at: new Date(message.atMs).toISOString(),
  message: { id: message.id, parts: partsOf(message) },
});
