/** Requests as a sender of Standard Webhooks signs them. */
import { createHmac } from "node:crypto";
import type { Call } from "./http.ts";

/** `secret`: what is base64 behind `whsec_`. */
export function signed(id: string, body: string, nowMs: number, secret = "c2VjcmV0"): Call {
  const timestamp = String(Math.floor(nowMs / 1000));
  const key = Buffer.from(secret, "base64");
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  const headers = { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` };
  return { body, headers };
}
