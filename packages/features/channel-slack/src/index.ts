/** `channel-slack`: a chat over a small JSON API, by webhook. */
import { allowlist, channelKeys, defineFeature, httpUrl, secret } from "@svc/contract";
import * as v from "valibot";

const config = v.strictObject({
  api_url: v.pipe(httpUrl(), v.description("Base URL of the platform's API.")),
  token: v.pipe(secret(), v.description("Bearer token for the API.")),
  signing_secret: v.optional(
    v.pipe(
      secret({ generate: true }),
      v.description("What the platform signs deliveries with. Without it nobody's are told from the platform's."),
    ),
  ),
  allowed_users: allowlist("User ids"),
  ...channelKeys,
});

export type Config = v.InferOutput<typeof config>;

export default defineFeature({
  id: "channel-slack",
  section: "channels_config.slack",
  config,
  load: () => import("./slack.ts"),
});
