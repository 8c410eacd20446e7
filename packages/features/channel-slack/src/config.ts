/** The section. */
import { allowlist, apiUrl, channelKeys, secret, streamKeys } from "@svc/contract";
import * as v from "valibot";

const keys = v.strictObject({
  bot_token: v.pipe(secret({ env: "SVC_SLACK_BOT_TOKEN" }), v.trim(), v.description("Bot token of the app (xoxb-…).")),
  app_token: v.optional(
    v.pipe(
      secret({ env: "SVC_SLACK_APP_TOKEN", ask: true }),
      v.trim(),
      v.description("App-level token with connections:write (xapp-…). Socket Mode needs it."),
    ),
  ),
  mode: v.optional(
    v.pipe(
      v.picklist(["socket", "events"]),
      v.description("socket: svc connects to the platform. events: the platform posts to svc; requires a public URL."),
    ),
    "socket",
  ),
  signing_secret: v.optional(
    v.pipe(
      secret({ env: "SVC_SLACK_SIGNING_SECRET" }),
      v.trim(),
      v.description("Secret with which the platform signs its posts. Required in the mode events."),
    ),
  ),
  allowed_users: allowlist("User ids (U…)"),
  mention_only: v.optional(
    v.pipe(
      v.boolean(),
      v.description("In channels, answer only messages that mention the bot, or threads that it takes part in."),
    ),
    true,
  ),
  thread_replies: v.optional(
    v.pipe(v.boolean(), v.description("In channels, answer in a thread under the message.")),
    true,
  ),
  ack_reaction: v.optional(
    v.pipe(
      v.string(),
      v.trim(),
      v.regex(/^:?[a-z0-9_+'-]{0,100}:?$/, "the name of an emoji, such as eyes"),
      v.description("Emoji that marks a message while it is being answered; blank: none."),
      v.transform((name) => name.replaceAll(":", "")),
    ),
    "eyes",
  ),
  // An edit a second or so is what the platform takes: https://docs.slack.dev/apis/web-api/rate-limits
  ...streamKeys(1_500),
  api_url: apiUrl("https://slack.com/api"),
  ...channelKeys,
});

const isSet = (value: string | undefined): boolean => value !== undefined && value.trim() !== "";

export const config = v.pipe(
  keys,
  v.forward(
    v.partialCheck(
      [["app_token"], ["mode"]],
      ({ app_token, mode }) => mode !== "socket" || isSet(app_token),
      'is required in the mode "socket"',
    ),
    ["app_token"],
  ),
  v.forward(
    v.partialCheck(
      [["signing_secret"], ["mode"]],
      ({ signing_secret, mode }) => mode !== "events" || isSet(signing_secret),
      'is required in the mode "events"',
    ),
    ["signing_secret"],
  ),
);

export type Config = v.InferOutput<typeof config>;
