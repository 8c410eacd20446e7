/** `channel-provider-c`: business chat over the WATI API v3, by webhook. */
import { allowlist, channelKeys, defineFeature, httpUrl, secret, trimEndOf } from "@svc/contract";
import * as v from "valibot";

const config = v.strictObject({
  api_token: v.pipe(secret(), v.description("Bearer token of the API.")),
  api_url: v.pipe(
    httpUrl(),
    v.description("Address that the platform names for your account, without the account's number."),
    v.transform((url) => trimEndOf(url, "/")),
  ),
  tenant_id: v.optional(
    v.pipe(
      v.string(),
      v.trim(),
      v.regex(/^[^:\p{Cc}]{1,100}$/u, "the name or number of a line, without a colon"),
      v.description("Name or number of the line that answers, where the account has several."),
    ),
  ),
  allowed_numbers: allowlist("Phone numbers"),
  callback_token: v.optional(
    v.pipe(
      secret({ generate: true }),
      v.description("End the callback URL with ?token= and this: the platform signs nothing, and anybody could post."),
    ),
  ),
  verify_token: v.optional(
    v.pipe(secret({ generate: true }), v.description("What a GET of the callback URL must say as hub.verify_token.")),
  ),
  ...channelKeys,
});

export type Config = v.InferOutput<typeof config>;

export default defineFeature({
  id: "channel-provider-c",
  section: "channels_config.provider_c",
  config,
  load: () => import("./provider-c.ts"),
});
