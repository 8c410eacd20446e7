/**
 * Methods of the Web API. No retries here: the error's code says whether the delivery is retried.
 * https://docs.slack.dev/apis/web-api
 */
import type { Logger, WebClientOptions } from "@slack/web-api";
import { type FeatureContext, type Json, SvcError } from "@svc/contract";
import { type Fields, fieldsOf, textOf } from "./protocol.ts";

export interface WebApi {
  /**
   * Throws what the platform's no means to us, see `problemOf`. `answers`: errors of the platform's that are none here; `error`
   * of what it resolves with is the one.
   */
  call(
    method: string,
    args: Readonly<Record<string, Json | undefined>>,
    signal: AbortSignal,
    answers?: readonly string[],
  ): Promise<Fields>;
}

export interface Account {
  readonly apiUrl: string;
  readonly token: string;
}

export function webApi({ apiUrl, token }: Account, { fetch }: Pick<FeatureContext, "fetch">): WebApi {
  return {
    async call(method, args, signal, answers = []) {
      signal.throwIfAborted();
      // Forty milliseconds to load, which no one pays at start.
      const { WebClient } = await import("./library.ts");
      const client = new WebClient(undefined, {
        slackApiUrl: apiUrl,
        headers: requestHeaders(token),
        fetch: clientFetch(fetch, signal),
        logger: quietLog(),
        retryConfig: { retries: 0 },
        rejectRateLimitedCalls: true,
        allowAbsoluteUrls: false,
      });
      try {
        return fieldsOf((await client.apiCall(method, wellFormed(args))) as unknown as Json);
      } catch (error) {
        signal.throwIfAborted();
        const answer = fieldsOf(fieldsOf(error as Json)["data"]);
        if (answers.some((word) => answer["error"] === word)) return answer;
        throw problemOf(error);
      }
    },
  };
}

/** The library would tell which system it runs on. */
export const requestHeaders = (token: string): Record<string, string> => ({
  Authorization: `Bearer ${token}`,
  "User-Agent": "svc",
});

/** Half a character can't be put into a form. */
const wellFormed = (args: Readonly<Record<string, Json | undefined>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(args).map(([name, value]) => [name, typeof value === "string" ? value.toWellFormed() : value]),
  );

/** The guarded client, as the platform's libraries want one. */
export type ClientFetch = NonNullable<WebClientOptions["fetch"]>;

/** A page of two hundred messages with all their blocks. */
const MAX_BYTES = 16_777_216;

export function clientFetch(fetch: FeatureContext["fetch"], signal: AbortSignal): ClientFetch {
  return async (target, { headers = {}, body } = {}) => {
    const url = String(target);
    const answer = await fetch(url, {
      method: "POST",
      headers: headers as Record<string, string>,
      body: String(body ?? ""),
      maxBytes: MAX_BYTES,
      redirects: "same-host",
      signal,
    });
    // A redirect may turn a POST into a GET, whose 200 is no acceptance of anything.
    if (answer.url !== new URL(url).href) {
      throw new SvcError("DELIVERY_FAILED", "The platform redirects to another address.", {
        hint: "Set api_url to the address that it redirects to.",
      });
    }
    const { status, bytes } = answer;
    const text = async (): Promise<string> => Buffer.from(bytes).toString("utf8");
    const byName = new Map(Object.entries(answer.headers));
    return {
      ok: status >= 200 && status <= 299,
      status,
      statusText: "",
      url: answer.url,
      headers: { get: (name) => byName.get(name.toLowerCase()) ?? null, entries: () => byName.entries() },
      text,
      json: async () => JSON.parse(await text()) as unknown,
      arrayBuffer: async () => Uint8Array.from(bytes).buffer,
    };
  };
}

/**
 * The libraries log whole requests and answers, with tokens and messages: discard all of it.
 */
const nothing = (): void => undefined;

export const quietLog = (): Logger => ({
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  setLevel: nothing,
  setName: nothing,
  // A value of an enum whose module is not loaded here.
  getLevel: () => "error" as ReturnType<Logger["getLevel"]>,
});

// What goes wrong with a method, as an error of ours. No word of the platform's but its name for the error, and only a known one.

/** Of what the libraries throw. */
export function problemOf(error: unknown): SvcError {
  if (error instanceof SvcError) return error;
  const { code, original, data, statusCode, retryAfter, headers } = fieldsOf(error as Json) as ClientError;
  if (original instanceof SvcError) return original;
  if (code === "slack_webapi_platform_error") return refusalOf(fieldsOf(data as Json));
  if (code === "slack_webapi_rate_limited_error") return rateLimited(retryAfter);
  if (code === "slack_webapi_http_error" && typeof statusCode === "number") {
    return statusError(statusCode, fieldsOf(headers as Json));
  }
  return new SvcError("DELIVERY_FAILED", "The platform's answer can't be read.");
}

interface ClientError {
  readonly code?: unknown;
  readonly original?: unknown;
  readonly data?: unknown;
  readonly statusCode?: unknown;
  readonly retryAfter?: unknown;
  readonly headers?: unknown;
}

const rateLimited = (seconds: unknown): SvcError => {
  const isTime = typeof seconds === "number" && Number.isFinite(seconds) && seconds >= 0;
  return new SvcError("DELIVERY_FAILED", "The platform asks to be asked less often.", {
    ...(isTime && { retryAfterMs: Math.min(seconds, 86_400) * 1000 }),
  });
};

/** `ok: false`, and a word for why. */
function refusalOf({ error, needed, response_metadata: metadata }: Fields): SvcError {
  const word = textOf(error) ?? "";
  const known = ERROR_WORDS.get(word);
  if (known === undefined) {
    return new SvcError("DELIVERY_FAILED", "The platform refused for a reason that is not known here.");
  }
  if (word === "ratelimited" || word === "rate_limited") return rateLimited(fieldsOf(metadata)["retryAfter"]);
  const { means, sentence } = known;
  const hint = word === "missing_scope" ? scopeHint(textOf(needed) ?? "") : known.hint;
  return new SvcError(means, `${sentence} (${word}).`, { ...(hint !== undefined && { hint }) });
}

function scopeHint(needed: string): string {
  const scopes = needed.split(/[,|\s]+/).filter((scope) => SCOPE_NAMES.has(scope));
  const named = scopes.length === 0 ? "the scope" : scopes.join(", ");
  return `Add ${named} under OAuth & Permissions of the app, and install it to the workspace again.`;
}

function statusError(status: number, headers: Fields): SvcError {
  const code = codeOf(status);
  const seconds = Number(textOf(headers["retry-after"]) ?? Number.NaN);
  return new SvcError(code, `The platform answered with status ${status}.`, {
    ...(Number.isFinite(seconds) && code === "DELIVERY_FAILED" && { retryAfterMs: seconds * 1000 }),
    ...(code === "CHANNEL_UNAUTHORIZED" && { hint: "Check bot_token, app_token and api_url." }),
  });
}

function codeOf(status: number): PlatformError["means"] {
  if (status === 401 || status === 403) return "CHANNEL_UNAUTHORIZED";
  const isFinal = status >= 400 && status <= 499 && ![408, 425, 429].includes(status);
  return isFinal ? "DELIVERY_REFUSED" : "DELIVERY_FAILED";
}

/**
 * Errors of the platform's methods, and their meaning here. An unlisted error is retried.
 * https://docs.slack.dev/reference/methods/chat.postMessage#errors, and those of the other methods
 */
interface PlatformError {
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

const ERROR_WORDS: ReadonlyMap<string, PlatformError> = new Map([
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
  ["restricted_action_read_only_channel", refused("Only its owners may write in this channel")],
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
  ["invalid_arguments", refused("Slack does not accept the request's arguments")],
  ["message_not_found", refused("The message is gone")],
  ["cant_update_message", refused("The message is not the bot's to edit")],
  ["edit_window_closed", refused("The workspace does not allow editing a message as old as this")],
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
const SCOPE_NAMES: ReadonlySet<string> = new Set(
  [
    "app_mentions:read channels:history channels:read chat:write chat:write.public commands connections:write files:read",
    "files:write groups:history groups:read im:history im:read im:write mpim:history mpim:read mpim:write reactions:read",
    "reactions:write users:read assistant:write",
  ].flatMap((words) => words.split(" ")),
);
