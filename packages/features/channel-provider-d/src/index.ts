/** `channel-provider-d`: the bot API of Nextcloud Talk, by webhook. */
import { allowlist, channelKeys, defineFeature, httpUrl, secret, trimEndOf } from "@svc/contract";
import * as v from "valibot";

const withoutSlash = v.transform((url: string) => trimEndOf(url, "/"));

const config = v.pipe(
  v.strictObject({
    ...channelKeys,
    base_url: v.pipe(httpUrl(), v.description("Address of the Nextcloud server, as people open it."), withoutSlash),
    app_token: v.pipe(
      secret(),
      v.description(
        "Shared secret of the bot, as passed to talk:bot:install. It signs answers unless webhook_secret is set.",
      ),
    ),
    bot_name: v.optional(
      v.pipe(
        v.string(),
        v.description(
          "Display name of the bot. Messages from an account of this name are ignored. Blank: no such rule.",
        ),
      ),
      "",
    ),
    webhook_secret: v.optional(
      v.pipe(
        secret({ generate: true, env: "SVC_PROVIDER_D_WEBHOOK_SECRET" }),
        v.description("Shared secret that checks deliveries and signs answers. 40 to 128 characters."),
      ),
    ),
    allowed_users: allowlist("User ids"),
    api_url: v.optional(
      v.pipe(httpUrl(), v.description("URL for API calls, if it differs from base_url (a proxy)."), withoutSlash),
    ),
  }),
  // The outgoing client lets a feature reach its `api_url` on a private network, where most such servers are.
  v.transform((section) => ({ ...section, api_url: section.api_url ?? section.base_url })),
);

export type Config = v.InferOutput<typeof config>;

export default defineFeature({
  id: "channel-provider-d",
  section: "channels_config.provider_d",
  config,
  load: () => import("./provider-d.ts"),
});
