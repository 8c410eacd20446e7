/** `POST /webhook` as data. */
import * as v from "valibot";
import type { RouteSpec } from "../routes/spec.ts";
import { MESSAGE } from "./message.ts";
import { IDEMPOTENCY_KEY, SESSION_ID } from "./request-headers.ts";

/** The answer to a request whose idempotency key, or whose webhook-id, was seen before. */
export const DUPLICATE = {
  status: "duplicate",
  idempotent: true,
  message: "This request was already processed for this idempotency key.",
} as const;

const ANSWERED = v.object({
  response: v.pipe(v.string(), v.description("What the agent answered.")),
  model: v.pipe(v.string(), v.description("The model that did.")),
  session_id: v.pipe(v.string(), v.description("Goes on with this conversation when sent as X-Session-Id.")),
});

const WAS_ANSWERED = v.object({
  status: v.literal(DUPLICATE.status),
  idempotent: v.literal(DUPLICATE.idempotent),
  message: v.literal(DUPLICATE.message),
});

const ACCEPTED = v.object({
  status: v.literal("accepted"),
  session_id: v.pipe(
    v.string(),
    v.description("The conversation of what is posted; goes on when sent as X-Session-Id."),
  ),
  message_id: v.pipe(v.string(), v.description("As svc inbox show takes it.")),
});

const described = (text: string) => v.optional(v.pipe(v.string(), v.description(text)));

export const WEBHOOK: RouteSpec = {
  method: "POST",
  path: "/webhook",
  access: "webhook",
  summary: "Runs one turn of the agent and answers with its reply.",
  details:
    "The bearer is not needed while gateway.require_pairing is false. Whoever is answered 429 or 503 may send the same request again; with an idempotency key, after any failure.",
  headers: {
    Prefer: described(
      "respond-async (RFC 7240): do not wait. It counts where channels_config.webhook.url is set, to which the answer is posted then.",
    ),
    "X-Session-Id": v.optional(SESSION_ID),
    "X-Idempotency-Key": v.optional(IDEMPOTENCY_KEY),
    "X-Webhook-Secret": described("Needed when channels_config.webhook.secret is set."),
    "webhook-id": described("With the next two, a Standard Webhooks signature: needed when a signing_secret is set."),
    "webhook-timestamp": described("Unix seconds, at most 300 off."),
    "webhook-signature": described(
      "v1, and the base64 of HMAC-SHA256 over id.timestamp.body; several with blanks between.",
    ),
  },
  body: MESSAGE,
  answers: {
    200: {
      description: "The agent's answer, or that this request was a duplicate.",
      body: v.union([ANSWERED, WAS_ANSWERED]),
    },
    202: {
      description: "The message is kept, and its answer will be posted, over restarts too.",
      body: ACCEPTED,
      headers: { "Preference-Applied": v.literal("respond-async") },
    },
  },
  errors: [
    "RATE_LIMITED",
    "BAD_WEBHOOK_SECRET",
    "BAD_SIGNATURE",
    "BAD_BODY",
    "BAD_SESSION_ID",
    "BAD_IDEMPOTENCY_KEY",
    "AGENT_UNKNOWN",
    "COST_LIMIT",
    "BUSY",
    "TURN_FAILED",
    "TURN_CANCELLED",
    "TURN_STEP_LIMIT",
    "TURN_TIMEOUT",
    "MODEL_REFUSED",
    "MODEL_UNREACHABLE",
    "STORE_FULL",
    "STORE_FAILED",
    "CONFIG_INVALID",
    "INTERNAL",
  ],
};
