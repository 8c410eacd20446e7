/**
 * Errors of the platform's methods, and what each is to us. What is not here may be anything, and is tried again.
 * https://docs.slack.dev/reference/methods/chat.postMessage#errors, and those of the other methods
 */

export interface PlatformError {
  readonly means: "CHANNEL_UNAUTHORIZED" | "DELIVERY_REFUSED" | "DELIVERY_FAILED";
  /** Without a full stop. */
  readonly sentence: string;
  readonly hint?: string;
}

const INVITE = "Invite the bot there: /invite and its name.";
const TOKEN = "Copy the token from the app's page again, and set it anew.";

const unauthorized = (sentence: string, hint: string = TOKEN): PlatformError => ({
  means: "CHANNEL_UNAUTHORIZED",
  sentence,
  hint,
});
const refused = (sentence: string, hint?: string): PlatformError => ({
  means: "DELIVERY_REFUSED",
  sentence,
  ...(hint !== undefined && { hint }),
});
const later = (sentence: string): PlatformError => ({ means: "DELIVERY_FAILED", sentence });

export const ERROR_WORDS: ReadonlyMap<string, PlatformError> = new Map([
  // Credentials
  ["invalid_auth", unauthorized("Slack does not know this token")],
  ["not_authed", unauthorized("Slack was sent no token")],
  ["token_revoked", unauthorized("This token was withdrawn")],
  [
    "token_expired",
    unauthorized("This token has expired", "Turn token rotation off in the app, and set the new token."),
  ],
  [
    "account_inactive",
    unauthorized("The app, or its workspace, is deactivated", "Install the app to the workspace again."),
  ],
  ["user_removed_from_team", unauthorized("The bot was removed from the workspace", "Install the app again.")],
  ["team_disabled", unauthorized("The workspace is deactivated")],
  [
    "not_allowed_token_type",
    unauthorized("This is not the kind of token that is needed", "bot_token begins with xoxb-, app_token with xapp-."),
  ],
  ["missing_scope", unauthorized("The app may not do that")],
  [
    "no_permission",
    unauthorized("The app may not do that", "Look at its scopes, and at what the workspace allows apps."),
  ],
  ["access_denied", unauthorized("The workspace denies the app this", "Ask its administrator.")],
  ["accesslimited", unauthorized("The workspace does not take requests from this address", "Ask its administrator.")],
  ["org_login_required", unauthorized("The workspace is being moved to an organisation")],
  ["two_factor_setup_required", unauthorized("The account has to set up two factors first")],
  ["forbidden_team", unauthorized("This workspace may not use Socket Mode", 'Use mode = "events".')],

  // Places
  ["channel_not_found", refused("Slack knows no such conversation, or the bot may not see it", INVITE)],
  ["not_in_channel", refused("The bot is not in this channel", INVITE)],
  ["is_archived", refused("The channel is archived")],
  ["is_inactive", refused("The channel is archived, frozen or deleted")],
  ["messages_tab_disabled", refused("The app takes no direct messages", "Turn on App Home, Messages Tab.")],
  ["user_not_found", refused("Slack knows no such person")],
  ["user_not_visible", refused("The bot may not see this person")],
  ["user_disabled", refused("This person's account is deactivated")],
  ["cannot_dm_bot", refused("Bots can't write to bots")],
  ["invalid_user_combination", refused("These people can't be in one conversation")],
  ["thread_not_found", refused("The thread is gone")],
  ["invalid_thread_ts", refused("The thread is gone")],
  ["cannot_reply_to_message", refused("This message takes no replies")],
  ["team_not_found", refused("Slack needs the channel's id here, and was given a name")],
  ["restricted_action", refused("The workspace does not let the bot write there")],
  ["restricted_action_read_only_channel", refused("Nobody but its owners may write in this channel")],
  ["restricted_action_thread_only_channel", refused("Only replies in threads are taken in this channel")],
  ["restricted_action_non_threadable_channel", refused("This channel has no threads", "Set thread_replies = false.")],
  ["restricted_action_thread_locked", refused("The thread is locked")],
  ["ekm_access_denied", refused("The workspace has suspended writing there")],
  ["posting_to_channel_denied", refused("The bot may not post files there")],

  // Messages
  ["msg_too_long", refused("The text is too long for Slack")],
  ["msg_blocks_too_long", refused("The text is too long for Slack")],
  ["no_text", refused("Slack takes no message without a text")],
  ["invalid_blocks", refused("Slack does not take the message's blocks")],
  ["invalid_blocks_format", refused("Slack does not take the message's blocks")],
  ["invalid_arguments", refused("Slack does not take what it was asked")],
  ["message_not_found", refused("The message is gone")],
  ["cant_update_message", refused("The message is not the bot's to edit")],
  ["edit_window_closed", refused("The workspace lets nobody edit a message as old as this")],
  ["block_mismatch", refused("Slack does not let this message be changed to that")],
  ["streaming_state_conflict", refused("The message can't be edited just now")],

  // Files
  ["file_not_found", refused("The file is gone")],
  ["file_deleted", refused("The file was deleted")],
  ["file_uploads_disabled", refused("The workspace takes no files")],
  ["file_upload_size_restricted", refused("The workspace takes no file of this size")],
  ["storage_limit_reached", refused("The workspace has no room for files left")],

  // Reactions
  ["invalid_name", refused("There is no such emoji", "Set ack_reaction to the name of one that the workspace has.")],
  ["bad_timestamp", refused("The message is gone")],
  ["not_reactable", refused("This can't be reacted to")],
  ["too_many_emoji", refused("The message has as many reactions as it may")],
  ["too_many_reactions", refused("The message has as many reactions as it may")],
  ["thread_locked", refused("The thread is locked")],

  // The moment
  ["ratelimited", later("Slack asks to be asked less often")],
  ["rate_limited", later("Slack asks to be asked less often")],
  ["message_limit_exceeded", later("The workspace has sent as many messages as it may for now")],
  ["internal_error", later("Slack has a fault")],
  ["fatal_error", later("Slack has a fault")],
  ["service_unavailable", later("Slack is not available")],
  ["request_timeout", later("Slack did not get all of the request in time")],
  ["team_added_to_org", later("The workspace is being moved to an organisation")],
  ["external_channel_migrating", later("The channel is being moved")],
  ["update_failed", later("Slack could not change the message")],
  ["file_update_failed", later("Slack could not share the file")],
]);

/** Scopes that an error may name. */
export const SCOPE_NAMES: ReadonlySet<string> = new Set(
  [
    "app_mentions:read channels:history channels:read chat:write chat:write.public commands connections:write files:read",
    "files:write groups:history groups:read im:history im:read im:write mpim:history mpim:read mpim:write reactions:read",
    "reactions:write users:read assistant:write",
  ].flatMap((words) => words.split(" ")),
);
