/**
 * Requests to the platform's API, by the guarded client. None is tried again here: what a message asks for twice would be
 * said twice.
 * https://docs.discord.com/developers/reference#http-api
 */
import { type Clock, type FeatureContext, type Json, SvcError } from "@svc/contract";
import { type Form, type PlatformAnswer, platformCall, retryAfterMs } from "@svc/kit";
import type { Config } from "./config.ts";
import { fieldsOf, numberOf } from "./protocol.ts";

export interface RestRequest {
  /** Default: POST with something to send, else GET. */
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below the version, without a slash in front; ids in it are ids. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly json?: Json;
  readonly form?: Form;
}

export interface Rest {
  /** The JSON of the answer; undefined: it is missing. Throws CHANNEL_UNAUTHORIZED, DELIVERY_*, REMOTE_*. */
  call(request: RestRequest, signal: AbortSignal): Promise<Json | undefined>;
  /** As `call`, but returns the platform's refusal instead of throwing it. */
  attempt(request: RestRequest, signal: AbortSignal): Promise<{ readonly json: Json | undefined } | Problem>;
}

type ApiDeps = Pick<FeatureContext, "clock" | "fetch">;

export function restApi({ api_url: apiUrl, bot_token: token }: Config, { clock, fetch }: ApiDeps): Rest {
  const limits = rateLimits(clock);
  const attempt: Rest["attempt"] = async ({ path, query, json, form, ...given }, signal) => {
    const method = given.method ?? (json === undefined && form === undefined ? "GET" : "POST");
    const route = routeOf(method, path);
    await limits.pass(route, signal);
    const search = query === undefined ? "" : `?${new URLSearchParams(query)}`;
    const answer = await platformCall(fetch, {
      method,
      url: `${apiUrl}/v${API_VERSION}/${path}${search}`,
      headers: {
        authorization: `Bot ${token}`,
        "user-agent": USER_AGENT,
        ...(form !== undefined && { "content-type": form.contentType }),
      },
      ...(json !== undefined && { json }),
      ...(form !== undefined && { body: form.body, timeoutMs: UPLOAD_MS }),
      answers: ERROR_STATUSES,
      maxBytes: MAX_ANSWER_BYTES,
      nowMs: clock.now(),
      signal,
    });
    limits.learn(route, answer);
    return problemOf(answer, clock.now()) ?? { json: answer.json };
  };
  return {
    attempt,
    async call(request, signal) {
      const outcome = await attempt(request, signal);
      if ("error" in outcome) throw outcome.error;
      return outcome.json;
    },
  };
}

export const API_VERSION = 10;

/** Without one of this form requests are turned away: https://docs.discord.com/developers/reference#user-agent */
const USER_AGENT = "DiscordBot (https://svc.example, 1)";

/** All of them are answers here: what they mean is for the body to say. */
const ERROR_STATUSES: readonly number[] = Array.from({ length: 200 }, (_, index) => 400 + index);

/** A hundred messages with everything that they quote and embed. */
const MAX_ANSWER_BYTES = 16 * 1_048_576;
const UPLOAD_MS = 55_000;

/** For an answer that lacks required fields. */
export const unreadable = (): SvcError =>
  new SvcError("DELIVERY_FAILED", "The platform's answer can't be read.", { hint: "Check the channel's api_url." });

/**
 * The platform says with each answer how much more it takes. Who goes on asking is shut out by address.
 * https://docs.discord.com/developers/topics/rate-limits
 */
export interface RateLimits {
  /** Waits for a moment, or throws DELIVERY_FAILED with `retryAfterMs` where it would take longer. */
  pass(route: string, signal: AbortSignal): Promise<void>;
  learn(route: string, answer: PlatformAnswer): void;
}

/** Longer than this no one's message is held back here: the outbox knows how to wait. */
const LONGEST_WAIT_MS = 5_000;

function rateLimits(clock: Pick<Clock, "now" | "monotonic" | "sleep">): RateLimits {
  /** By route, when it opens again (`monotonic`). */
  const closed = new Map<string, number>();
  const close = (route: string, ms: number): void => {
    const nowMs = clock.monotonic();
    for (const [other, untilMs] of closed) if (untilMs <= nowMs) closed.delete(other);
    closed.set(route, Math.max(closed.get(route) ?? 0, nowMs + ms));
  };
  const waitMs = (route: string): number =>
    Math.max(closed.get(route) ?? 0, isGlobal(route) ? (closed.get(EVERYWHERE) ?? 0) : 0) - clock.monotonic();
  return {
    async pass(route, signal) {
      signal.throwIfAborted();
      // Anyone who waited longer may have closed it again.
      for (let ms = waitMs(route); ms > 0; ms = waitMs(route)) {
        if (ms > LONGEST_WAIT_MS) throw limited(ms);
        await clock.sleep(ms, signal);
      }
    },
    learn(route, answer) {
      const { status, headers } = answer;
      if (status === 429) {
        const everywhere = fieldsOf(answer.json)["global"] === true || headers["x-ratelimit-global"] === "true";
        close(everywhere ? EVERYWHERE : route, waitMsOf(answer, clock.now()) ?? 1_000);
      } else if (headers["x-ratelimit-remaining"] === "0") {
        const seconds = Number(headers["x-ratelimit-reset-after"]);
        if (seconds > 0 && seconds < 86_400) close(route, Math.ceil(seconds * 1000));
      }
    },
  };
}

const EVERYWHERE = "*";

/** Answers to commands and buttons are not counted: https://docs.discord.com/developers/topics/rate-limits#global-rate-limit */
const isGlobal = (route: string): boolean => !/^[A-Z]+ (?:interactions|webhooks)\//.test(route);

const limited = (ms: number): SvcError =>
  new SvcError("DELIVERY_FAILED", "The platform takes no more of this for a while.", { retryAfterMs: ms });

/** Limits are per method and path, each channel and webhook for itself; further ids in the path make no difference. */
function routeOf(method: string, path: string): string {
  const [top = "", ...parts] = path.replace(/\/reactions\/.*/, "/reactions").split("/");
  const own = top === "webhooks" || top === "interactions" ? 2 : 1;
  return `${method} ${[top, ...parts.map((part, at) => (at >= own && /^\d+$/.test(part) ? ":id" : part))].join("/")}`;
}

/** What an answer of the platform means for us: whether the message, the token or only the moment is wrong. */
interface Problem {
  /** Without the platform's text, which may quote the message. */
  readonly error: SvcError;
  /** The platform's number of it. */
  readonly code: number | undefined;
}

/** Undefined: it is no error. */
function problemOf(answer: PlatformAnswer, nowMs: number): Problem | undefined {
  const { status } = answer;
  if (status <= 399) return undefined;
  const code = errorNumber(fieldsOf(answer.json)["code"]);
  // A limit has the number of what was limited, now and then.
  const known = status === 401 || status === 429 || code === undefined ? undefined : ERROR_CODES.get(code);
  const means = known?.means ?? meaningOf(status);
  const waitMs = waitMsOf(answer, nowMs);
  const sentence = known?.sentence ?? `The platform answered with status ${status}`;
  const hint = known?.hint ?? (means === "CHANNEL_UNAUTHORIZED" ? TOKEN_HINT : undefined);
  const error = new SvcError(means, `${sentence}${code === undefined ? "" : ` (error ${code})`}.`, {
    ...(hint !== undefined && { hint }),
    ...(waitMs !== undefined && means !== "DELIVERY_REFUSED" && { retryAfterMs: waitMs }),
  });
  return { error, code };
}

/** Milliseconds until the same may be asked again: the body says it more exactly than the header. */
function waitMsOf({ headers, json }: Pick<PlatformAnswer, "headers" | "json">, nowMs: number): number | undefined {
  const seconds = numberOf(fieldsOf(json)["retry_after"]);
  if (seconds !== undefined && seconds >= 0 && seconds < LONGEST_SECONDS) return Math.ceil(seconds * 1000);
  return retryAfterMs(headers["retry-after"], nowMs);
}

const LONGEST_SECONDS = 1e6;

const TOKEN_HINT =
  "Set bot_token to the token of the bot: in the developer portal under Bot, Reset Token. It is no client secret.";

/** 0 stands for an error without a number. */
function errorNumber(code: unknown): number | undefined {
  const number = numberOf(code);
  return number !== undefined && Number.isInteger(number) && number > 0 && number <= 999_999_999 ? number : undefined;
}

function meaningOf(status: number): PlatformError["means"] {
  if (status === 401) return "CHANNEL_UNAUTHORIZED";
  // 403 is a permission that is missing in one place; the token is a good one.
  const isFinal = status >= 400 && status <= 499 && ![408, 425, 429].includes(status);
  return isFinal ? "DELIVERY_REFUSED" : "DELIVERY_FAILED";
}

/**
 * Numbers of the platform's errors that mean more than their status.
 * https://docs.discord.com/developers/topics/opcodes-and-status-codes#json
 */
interface PlatformError {
  readonly means: "CHANNEL_UNAUTHORIZED" | "DELIVERY_REFUSED" | "DELIVERY_FAILED";
  readonly sentence: string;
  readonly hint?: string;
}

/** Those that the code looks at itself. */
export const UNKNOWN_MESSAGE = 10008;
export const UNKNOWN_WEBHOOK = 10015;
export const INVALID_WEBHOOK_TOKEN = 50027;
export const HAS_A_THREAD = 160004;

const refused = (sentence: string, hint?: string): PlatformError => ({
  means: "DELIVERY_REFUSED",
  sentence,
  ...(hint !== undefined && { hint }),
});

const INVITE = "Invite the bot again with the URL that `svc channels setup discord` prints, or change its role.";

const ERROR_CODES: ReadonlyMap<number, PlatformError> = new Map([
  // The recipient
  [10003, refused("There is no such channel, or the bot can't see it", "Is it the id of a channel?")],
  [UNKNOWN_MESSAGE, refused("There is no such message in that channel")],
  [10013, refused("There is no such user", "Is it the id of a user?")],
  [10062, refused("The command or button was answered too late")],
  [50001, refused("The bot may not see that channel", INVITE)],
  [
    50007,
    refused(
      "This person takes no direct messages of the bot",
      "They must share a server with it and allow messages of its members, or write first.",
    ),
  ],
  [50008, refused("This is no channel that messages can be written to")],
  [50024, refused("This can't be done in a channel of this kind", "In a forum, name one of its posts.")],
  [50083, refused("The thread is archived")],
  [160005, refused("The thread is locked")],

  // Permissions
  [50013, refused("The bot lacks a permission in that channel", INVITE)],
  [160002, refused("The bot may not answer there, as it can't read the history", INVITE)],
  [20028, { means: "DELIVERY_FAILED", sentence: "The channel is written to faster than it may be" }],
  [40004, refused("The platform has turned off sending for this bot")],
  [40062, { means: "DELIVERY_FAILED", sentence: "The platform limits how often this may be used" }],

  // The content
  [30046, refused("A message that is older than an hour was edited too often")],
  [40005, refused("The file is larger than the platform takes there", "10 MiB without boosts of the server.")],
  [40094, refused("The command was answered too often")],
  [50005, refused("The message belongs to another author")],
  [50006, refused("The message is empty")],
  [50035, refused("The platform does not take a message of this form")],
  [200000, refused("The server's AutoMod blocks the message")],
  [240000, refused("The message has a link that the platform blocks")],
]);

export interface IdentifyPace {
  /** Resolves when the next session may begin. Rejects with the signal's reason. */
  pass(signal: AbortSignal): Promise<void>;
}

/**
 * A new session every five seconds, for all callers; the platform invalidates further ones.
 * https://docs.discord.com/developers/events/gateway#rate-limiting
 */
export function identifyPace(clock: Pick<Clock, "monotonic" | "sleep">): IdentifyPace {
  let nextMs = Number.NEGATIVE_INFINITY;
  return {
    async pass(signal) {
      const waitMs = nextMs - clock.monotonic();
      if (waitMs > 0) await clock.sleep(waitMs, signal);
      signal.throwIfAborted();
      nextMs = clock.monotonic() + IDENTIFY_EVERY_MS;
    },
  };
}

const IDENTIFY_EVERY_MS = 5_500;
