/** `__id__`: a chat over a small JSON API, by webhook. */
import { allowlist, channelKeys, defineFeature, httpUrl, secret } from "@svc/contract";
import * as v from "valibot";

const config = v.strictObject({
  api_url: v.pipe(httpUrl(), v.description("Base URL of the platform's API.")),
  token: v.pipe(secret(), v.description("Bearer token for the API.")),
  signing_secret: v.optional(
    v.pipe(
      secret({ generate: true }),
      v.description(
        "Secret with which the platform signs deliveries. Without it, forged deliveries can't be detected.",
      ),
    ),
  ),
  allowed_users: allowlist("User ids"),
  ...channelKeys,
});

export type Config = v.InferOutput<typeof config>;

export default defineFeature({
  id: "__id__",
  __owns__: "__section__",
  config,
  load: () => import("./__name__.ts"),
});
