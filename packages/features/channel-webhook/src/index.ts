/** `channel-webhook`: what the agent says, posted to a URL of the operator's. */
import { channelKeys, defineFeature, httpUrl, integer, secret, webhookKey } from "@svc/contract";
import * as v from "valibot";

// `agent`, `secret` and `signing_secret` of the same section are core's.
const { approvers, notification_target, allowed_targets } = channelKeys;

const config = v.strictObject({
  url: v.optional(
    v.pipe(
      v.string(),
      v.trim(),
      v.check(
        (url) => url === "" || v.is(httpUrl(), url),
        "an http:// or https:// URL without a user name or password, or blank",
      ),
      v.description("URL to post messages to; blank: none are posted."),
    ),
  ),
  method: v.optional(v.pipe(v.picklist(["POST", "PUT"]), v.description("How they are posted.")), "POST"),
  authorization: v.optional(
    v.pipe(
      secret(),
      v.check((value) => /^[\x20-\x7e]*$/.test(value), "one line of plain ASCII"),
      v.description("Value of the Authorization header, e.g. Bearer and a token."),
    ),
  ),
  url_secret: v.optional(
    v.pipe(
      webhookKey(),
      v.description("Key for the Standard Webhooks signature of posted messages. Without it, they are not signed."),
    ),
  ),
  timeout_secs: v.optional(v.pipe(integer(1, 60), v.description("Seconds to wait for the answer before a retry.")), 20),
  approvers,
  notification_target,
  allowed_targets,
});

export type Config = v.InferOutput<typeof config>;

export default defineFeature({
  id: "channel-webhook",
  extends: "channels_config.webhook",
  config,
  load: () => import("./webhook.ts"),
});
