/** `POST /webhook`: a message for the agent, and its answer. */
import * as v from "valibot";
import type { Output } from "./schema.ts";

export const WebhookMessage = v.object({
  message: v.pipe(v.string(), v.regex(/\S/), v.description("Message for the agent; not blank.")),
});
export type WebhookMessage = Output<typeof WebhookMessage>;

export const SessionId = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9._-]{1,128}$/),
  v.description("Name of the conversation to continue. Without it the message begins a new one."),
);

export const IdempotencyKey = v.pipe(
  v.string(),
  v.regex(/^[\x21-\x7e]{1,256}$/),
  v.description("A second request with the same key is answered as a duplicate, and no turn runs."),
);

const described = (text: string) => v.optional(v.pipe(v.string(), v.description(text)));

export const WebhookHeaders = {
  Prefer: described(
    "respond-async (RFC 7240): do not wait. Needs channels_config.webhook.url, to which the answer is posted.",
  ),
  "X-Session-Id": v.optional(SessionId),
  "X-Idempotency-Key": v.optional(IdempotencyKey),
  "X-Webhook-Secret": described("Needed when channels_config.webhook.secret is set."),
  "webhook-id": described("With the next two, a Standard Webhooks signature: needed when a signing_secret is set."),
  "webhook-timestamp": described("Unix seconds, at most 300 off."),
  "webhook-signature": described(
    "v1, and the base64 of HMAC-SHA256 over id.timestamp.body; several with blanks between.",
  ),
};

export const WebhookAnswer = v.object({
  response: v.pipe(v.string(), v.description("What the agent answered.")),
  model: v.pipe(v.string(), v.description("The model that did.")),
  session_id: v.pipe(v.string(), v.description("Goes on with this conversation when sent as X-Session-Id.")),
});
export type WebhookAnswer = Output<typeof WebhookAnswer>;

/** The answer to a request whose idempotency key, or whose webhook-id, was seen before. */
export const Duplicate = v.object({
  status: v.literal("duplicate"),
  idempotent: v.literal(true),
  message: v.literal("This request was already processed for this idempotency key."),
});
export type Duplicate = Output<typeof Duplicate>;

/** The answer to `Prefer: respond-async`. */
export const WebhookAccepted = v.object({
  status: v.literal("accepted"),
  session_id: v.pipe(
    v.string(),
    v.description("The conversation of the message; continue it by sending this as X-Session-Id."),
  ),
  message_id: v.pipe(v.string(), v.description("The id for svc inbox show.")),
});
export type WebhookAccepted = Output<typeof WebhookAccepted>;
