/** Push messages to browsers. */
import * as v from "valibot";
import { name, time, type Output } from "./schema.ts";

export const PushState = v.object({
  public_key: name("For `pushManager.subscribe`: the service's own key, base64url."),
  subscription: v.nullable(
    v.object({
      created_at: time(),
      details: v.pipe(v.boolean(), v.description("Notifications include the request itself.")),
      last_sent_at: v.nullable(time("UTC; null: nothing was sent since the service started.")),
      last_error: v.nullable(v.object({ at: time(), message: v.string() })),
    }),
  ),
});
export type PushState = Output<typeof PushState>;

export const MAX_ENDPOINT_CHARS = 1024;

const base64url = (length: number) => v.pipe(v.string(), v.maxLength(length), v.regex(/^[\w-]+=*$/));

/** As a browser's `PushSubscription.toJSON()` is. */
export const PushSubscription = v.object({
  endpoint: v.pipe(v.string(), v.maxLength(MAX_ENDPOINT_CHARS), v.regex(/^https:\/\//), v.description("An https URL.")),
  keys: v.object({
    p256dh: v.pipe(base64url(100), v.description("The browser's public key.")),
    auth: v.pipe(base64url(32), v.description("The browser's secret.")),
  }),
  details: v.optional(
    v.pipe(v.boolean(), v.description("Include the request itself; a locked screen shows it. Default: false.")),
    false,
  ),
});
export type PushSubscription = Output<typeof PushSubscription>;
