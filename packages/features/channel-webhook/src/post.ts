/**
 * One message to the receiver, by Standard Webhooks (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md).
 * When to try again is the delivery's business, and in the error's code.
 */
import type { Channel, FeatureContext, OutgoingMessage } from "@svc/contract";
import { platformCall, signWebhook } from "@svc/kit";
import * as v from "valibot";
import type { Config } from "./index.ts";
import type { Receiver } from "./receiver.ts";

/** Of the answer only the status counts. */
const MAX_ANSWER_BYTES = 1024;

export function poster({ clock, fetch }: FeatureContext<Config>, receiver: Receiver): Channel["send"] {
  const { url, method, headers, timeoutMs } = receiver;
  return async (message, signal) => {
    const body = bodyOf(message);
    const nowMs = clock.now();
    const own = { "content-type": "application/json", ...webhookHeaders(receiver, message.deliveryId, body, nowMs) };
    const request = { url, method, headers: { ...headers, ...own }, body, timeoutMs, signal, nowMs };
    // No redirects: only the config may change the receiver, because the message is meant for it alone.
    await platformCall(fetch, { ...request, maxBytes: MAX_ANSWER_BYTES, redirects: "none" });
    // The scheme has no id but ours.
    return {};
  };
}

/** No lone surrogate: a receiver's JSON may refuse one, and its text have another signature. */
function bodyOf({ conversation: { id, thread }, text, replyData }: OutgoingMessage): string {
  const conversation = v.is(OF_SESSION, replyData) ? replyData.session : id;
  return JSON.stringify({ content: text.toWellFormed(), conversation, thread_id: thread ?? null });
}

/** What answers a request to `POST /webhook` whose caller did not wait: the name that he knows the conversation by. */
const OF_SESSION = v.object({ session: v.string() });

/** The id is the same at each try, by which the receiver tells repetitions; the time is that of the try, which it may demand to be fresh. */
function webhookHeaders({ key }: Receiver, id: string, body: string, nowMs: number): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1000));
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    ...(key && { "webhook-signature": signWebhook(key, { id, timestamp, body }) }),
  };
}
