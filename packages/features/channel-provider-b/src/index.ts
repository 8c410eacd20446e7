/** `channel-provider-b`: iMessage, RCS and SMS over the Linq partner API v3, by webhook. */
import { allowlist, apiUrl, channelKeys, defineFeature, secret } from "@svc/contract";
import * as v from "valibot";

const config = v.strictObject({
  api_token: v.pipe(secret(), v.description("Token of the partner API.")),
  from_phone: v.pipe(
    v.string(),
    v.regex(/^\+[1-9][0-9]{6,14}$/, "a phone number as + and digits, with the country code"),
    v.description("Your line, as + and digits; new chats start from it."),
  ),
  signing_secret: v.optional(
    v.pipe(
      secret({ env: "SVC_PROVIDER_B_SIGNING_SECRET", ask: true }),
      v.description("Secret of the webhook subscription. Without it, anyone can forge deliveries."),
    ),
  ),
  allowed_senders: allowlist("Phone numbers or mail addresses"),
  api_url: apiUrl("https://api.linqapp.com/api/partner/v3"),
  ...channelKeys,
});

export type Config = v.InferOutput<typeof config>;

export default defineFeature({
  id: "channel-provider-b",
  section: "channels_config.provider_b",
  config,
  load: () => import("./provider-b.ts"),
});
