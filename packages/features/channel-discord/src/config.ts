/** The section `[channels_config.discord]`. */
import { ackReaction, allowlist, apiUrl, channelKeys, secret, streamKeys } from "@svc/contract";
import * as v from "valibot";

/** The platform takes five edits in five seconds of one channel, and an answer is not alone there. */
const EDIT_INTERVAL_MS = 1_500;

const toggle = (standard: boolean, description: string) =>
  v.optional(v.pipe(v.boolean(), v.description(description)), standard);

export const config = v.strictObject({
  bot_token: v.pipe(
    secret({ env: "SVC_DISCORD_BOT_TOKEN" }),
    v.description("Token of the bot, without the word Bot in front."),
  ),
  allowed_users: allowlist("Ids of users"),
  allowed_guilds: v.optional(
    v.pipe(
      v.array(v.pipe(v.string(), v.trim(), v.nonEmpty())),
      v.description("Ids of the servers to listen in. Default: all servers that the bot was invited to."),
    ),
  ),
  mention_only: toggle(
    true,
    "On a server, only messages that mention the bot or its role, or reply to it, reach the agent.",
  ),
  thread_replies: toggle(true, "In a thread that the bot opened or was mentioned in, answer without further mentions."),
  slash_commands: toggle(true, "Register /new, /model, /status, /stop and /help with the platform."),
  ack_reaction: ackReaction("👀"),
  ...streamKeys(EDIT_INTERVAL_MS),
  api_url: apiUrl("https://discord.com/api"),
  ...channelKeys,
});

export type Config = v.InferOutput<typeof config>;
