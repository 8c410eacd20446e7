/** A delivery as the platform would make it: for `svc webhook send`, and for tests. */
import type { Json, SampleDelivery, SampleMessage } from "@svc/contract";
import { hmacSha256Hex } from "@svc/kit";
import { phoneOf, userIdOf } from "./address.ts";
import type { CloudConfig } from "./config.ts";
import { PRODUCT } from "./names.ts";

export function sampleDelivery(message: SampleMessage, config: CloudConfig): SampleDelivery {
  const body = Buffer.from(JSON.stringify(payloadOf(message, config)));
  const { appSecret } = config;
  return {
    method: "POST",
    query: "",
    headers: {
      "content-type": "application/json",
      ...(appSecret !== undefined && { "x-hub-signature-256": `sha256=${hmacSha256Hex(appSecret, [body])}` }),
    },
    body,
  };
}

function payloadOf({ text, from, id, atMs }: SampleMessage, { phoneNumberId, allowedNumbers }: CloudConfig): Json {
  const { contact, sender } = senderOf(from ?? allowedNumbers.find((entry) => entry.trim() !== "*") ?? ANYBODY);
  const message = { ...sender, id, timestamp: String(Math.floor(atMs / 1000)), type: "text", text: { body: text } };
  const value = {
    messaging_product: PRODUCT,
    metadata: { display_phone_number: "15550000000", phone_number_id: phoneNumberId },
    contacts: [{ profile: { name: "svc webhook send" }, ...contact }],
    messages: [message],
  };
  return { object: "whatsapp_business_account", entry: [{ id: "0", changes: [{ field: "messages", value }] }] };
}

/** Numbers of this kind are nobody's. */
const ANYBODY = "+15550001111";

function senderOf(who: string): { contact: Record<string, Json>; sender: Record<string, Json> } {
  const userId = userIdOf(who.trim());
  if (userId !== undefined) return { contact: { user_id: userId }, sender: { from_user_id: userId } };
  const digits = (phoneOf(who.replaceAll(/[\s()./-]/g, "")) ?? who).replace("+", "");
  return { contact: { wa_id: digits }, sender: { from: digits } };
}
