/**
 * Deliveries by HTTP, signed.
 * https://docs.slack.dev/authentication/verifying-requests-from-slack
 */
import type { Json, SampleDelivery } from "@svc/contract";
import { createHmac } from "node:crypto";

/** `retry`: which repetition it is. */
export interface SlackRetry {
  readonly num: number;
  readonly reason: "http_timeout" | "connection_failed" | "http_error";
}

/** An event, as JSON. */
export const slackDelivery = (secret: string, payload: Json, atMs: number, retry?: SlackRetry): SampleDelivery =>
  slackSigned(secret, Buffer.from(JSON.stringify(payload)), atMs, {
    "content-type": "application/json",
    ...(retry && { "x-slack-retry-num": String(retry.num), "x-slack-retry-reason": retry.reason }),
  });

/** A press on a button, or a command, as a form. */
export const slackFormDelivery = (
  secret: string,
  fields: Readonly<Record<string, string>>,
  atMs: number,
): SampleDelivery =>
  slackSigned(secret, Buffer.from(new URLSearchParams(fields).toString()), atMs, {
    "content-type": "application/x-www-form-urlencoded",
  });

/** Any body. */
export function slackSigned(
  secret: string,
  body: Uint8Array,
  atMs: number,
  headers: Readonly<Record<string, string>> = { "content-type": "application/json" },
): SampleDelivery {
  const timestamp = String(Math.floor(atMs / 1000));
  const signature = createHmac("sha256", secret).update(`v0:${timestamp}:`).update(body).digest("hex");
  return {
    method: "POST",
    query: "",
    headers: {
      ...headers,
      "user-agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
      "x-slack-request-timestamp": timestamp,
      "x-slack-signature": `v0=${signature}`,
    },
    body,
  };
}
