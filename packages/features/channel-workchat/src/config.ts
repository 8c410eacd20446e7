/** The sections `[channels_config.workchat]` and `[channels_config.workchat_cn]`. */
import { allowlist, channelKeys, httpUrl, secret, streamKeys, trimEndOf } from "@svc/contract";
import * as v from "valibot";

const LARK = "https://open.larksuite.com";
const FEISHU = "https://open.feishu.cn";

/** The platform takes five updates of one card in a second. */
const EDIT_INTERVAL_MS = 1_000;

const keysOf = (env: string) => ({
  app_id: v.pipe(
    v.string(),
    v.trim(),
    v.regex(/^[A-Za-z0-9_-]{1,64}$/, "the App ID of the app, cli_ and letters and digits"),
    v.description("App ID of the app (cli_…)."),
  ),
  app_secret: v.pipe(secret({ env: `${env}_APP_SECRET` }), v.trim(), v.description("App Secret of the app.")),
  receive_mode: v.optional(
    v.pipe(
      v.picklist(["websocket", "webhook"]),
      v.description(
        "websocket: svc connects to the platform. webhook: the platform posts to svc; requires a public HTTPS URL.",
      ),
    ),
    "websocket",
  ),
  encrypt_key: v.optional(
    v.pipe(
      secret({ env: `${env}_ENCRYPT_KEY` }),
      v.trim(),
      v.description("Encrypt Key of the app, to decrypt callbacks and check their signatures."),
    ),
  ),
  verification_token: v.optional(
    v.pipe(
      secret({ env: `${env}_VERIFICATION_TOKEN` }),
      v.trim(),
      v.description("Verification Token of the app, which each callback must carry."),
    ),
  ),
  allowed_users: allowlist("Open IDs of users (ou_…)"),
  mention_only: v.optional(
    v.pipe(
      v.boolean(),
      v.description("In groups, only messages that mention the bot, or reply to its questions, reach the agent."),
    ),
    true,
  ),
  ack_reaction: v.optional(
    v.pipe(
      v.string(),
      v.trim(),
      v.regex(/^[A-Za-z0-9_]{0,64}$/, "the name of a reaction, such as OK"),
      v.description(
        "Reaction that acknowledges a message, such as OK; blank for none. Default: one that suits the language of the message.",
      ),
    ),
  ),
  ...streamKeys(EDIT_INTERVAL_MS),
  api_url: v.optional(
    v.pipe(
      httpUrl(),
      v.description("Base URL of the platform's API. Change it for a proxy or a test."),
      v.transform((url) => trimEndOf(url, "/")),
    ),
  ),
  ...channelKeys,
});

export const globalConfig = v.pipe(
  v.strictObject({
    ...keysOf("SVC_WORKCHAT"),
    use_feishu: v.optional(
      v.pipe(v.boolean(), v.description("The app is a Feishu app. Legacy: use [channels_config.workchat_cn].")),
      false,
    ),
  }),
  v.transform(({ use_feishu: isFeishu, api_url: url, ...rest }) => ({
    ...rest,
    isFeishu,
    api_url: url ?? (isFeishu ? FEISHU : LARK),
  })),
);

export const chinaConfig = v.pipe(
  v.strictObject(keysOf("SVC_WORKCHAT_CN")),
  v.transform(({ api_url: url, ...rest }) => ({ ...rest, isFeishu: true, api_url: url ?? FEISHU })),
);

export type Config = v.InferOutput<typeof globalConfig>;

/** Undefined for one that is not set, or blank. */
export const setSecret = (value: string | undefined): string | undefined => (value === "" ? undefined : value);
