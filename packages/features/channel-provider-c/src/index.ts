/** `channel-provider-c`: business chat over the WATI API v3, by webhook. */
import { allowlist, channelKeys, defineFeature, httpUrl, secret, trimEndOf } from "@svc/contract";
import * as v from "valibot";

const config = v.strictObject({
  api_token: v.pipe(secret(), v.description("Bearer token of the API.")),
  api_url: v.pipe(
    httpUrl(),
    v.description("API address that the platform shows for your account, without the account's number."),
    v.transform((url) => trimEndOf(url, "/")),
  ),
  tenant_id: v.optional(
    v.pipe(
      v.string(),
      v.trim(),
      v.regex(/^[^:\p{Cc}]{1,100}$/u, "the name or number of a line, without a colon"),
      v.description("Name or number of the line that answers, if the account has several."),
    ),
  ),
  allowed_numbers: allowlist("Phone numbers"),
  callback_token: v.optional(
    v.pipe(
      secret({ generate: true }),
      v.description(
        "Token at the end of the callback URL (?token=…). The platform doesn't sign its callbacks; without the token, anyone could post.",
      ),
    ),
  ),
  verify_token: v.optional(
    v.pipe(secret({ generate: true }), v.description("Expected hub.verify_token of a GET of the callback URL.")),
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
