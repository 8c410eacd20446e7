/** Requests to the Graph API. Its errors are told by a number in the body: the status alone says too little. */
import { type FeatureContext, type Json, SvcError } from "@svc/contract";
import { type Form, type PlatformAnswer, platformCall, retryAfterMs } from "@svc/kit";
import type { CloudConfig } from "./config.ts";
import { type Fields, fieldsOf, listOf, numberOf } from "./protocol.ts";

export interface GraphApi {
  /** Throws what the error of an answer is to us, see `problemOf`. */
  get(path: string, query: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Fields>;
  post(path: string, json: Json, signal: AbortSignal): Promise<Fields>;
  upload(path: string, form: Form, signal: AbortSignal): Promise<Fields>;
  /** As `get`; undefined where there is no such object. */
  find(path: string, query: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Fields | undefined>;
}

type ApiDeps = Pick<FeatureContext, "clock" | "fetch">;

/** Paths are below `api_url`, without a slash in front. */
export function graphApi({ apiUrl, accessToken }: CloudConfig, { clock, fetch }: ApiDeps): GraphApi {
  const authorization = `Bearer ${accessToken}`;
  const common = (signal: AbortSignal) => ({ answers: ERROR_STATUSES, nowMs: clock.now(), signal });
  const read = (path: string, query: Readonly<Record<string, string>>, signal: AbortSignal): Promise<PlatformAnswer> =>
    platformCall(fetch, {
      ...common(signal),
      method: "GET",
      url: `${apiUrl}/${path}?${new URLSearchParams(query)}`,
      headers: { authorization },
    });
  const taken = (answer: PlatformAnswer): Fields => {
    const problem = problemOf(answer, clock.now());
    if (problem !== undefined) throw problem;
    return fieldsOf(answer.json);
  };
  return {
    get: async (path, query, signal) => taken(await read(path, query, signal)),
    find: async (path, query, signal) => {
      const answer = await read(path, query, signal);
      return isMissing(answer) ? undefined : taken(answer);
    },
    post: async (path, json, signal) =>
      taken(
        await platformCall(fetch, { ...common(signal), url: `${apiUrl}/${path}`, headers: { authorization }, json }),
      ),
    upload: async (path, { body, contentType }, signal) =>
      taken(
        await platformCall(fetch, {
          ...common(signal),
          url: `${apiUrl}/${path}`,
          method: "POST",
          headers: { authorization, "content-type": contentType },
          body,
        }),
      ),
  };
}

/** All of them are answers here: which of them is worth another try is for the body to say. */
const ERROR_STATUSES: readonly number[] = Array.from({ length: 200 }, (_, index) => 400 + index);

/** What has expired answers like what never was: 404, or 400 with "object does not exist" (100, 33). */
function isMissing({ status, json }: PlatformAnswer): boolean {
  const { code, error_subcode: subcode } = fieldsOf(fieldsOf(json)["error"]);
  return status === 404 || (code === 100 && subcode === 33);
}

// What an error of the platform means for us: whether the message, the credentials or only the moment is wrong.
// https://developers.facebook.com/documentation/business-messaging/whatsapp/support/error-codes
// https://developers.facebook.com/docs/graph-api/guides/error-handling

/** Undefined: no error. Leaves out the platform's text, which may quote the token or the message. */
export function problemOf(answer: PlatformAnswer, nowMs: number): SvcError | undefined {
  const { status, headers, json } = answer;
  const body = fieldsOf(json);
  // An error now and then comes with 200.
  if (status <= 399 && body["error"] === undefined) return undefined;
  const { code, error_subcode: subcode, is_transient: isTransient } = fieldsOf(body["error"]);
  const number = errorNumber(code);
  const known = number === 100 && subcode === 33 ? NO_SUCH_OBJECT : knownError(number);
  const means = known?.means ?? (isTransient === true ? "DELIVERY_FAILED" : meaningOf(status));
  const waitMs =
    retryAfterMs(headers["retry-after"], nowMs) ?? usageWaitMs(headers["x-business-use-case-usage"]) ?? known?.waitMs;
  const hint = known?.hint ?? (means === "CHANNEL_UNAUTHORIZED" ? TOKEN_HINT : undefined);
  return new SvcError(
    means,
    `${known?.sentence ?? `The platform answered with status ${status}`}${numbered(number)}.`,
    {
      ...(hint !== undefined && { hint }),
      ...(waitMs !== undefined && means !== "DELIVERY_REFUSED" && { retryAfterMs: waitMs }),
    },
  );
}

/** Why a message that had been accepted was not delivered, from `errors[]` of its status. */
export function failureOf([error]: readonly Json[]): string {
  const number = errorNumber(fieldsOf(error)["code"]);
  return `${knownError(number)?.sentence ?? "The platform could not deliver it"}${numbered(number)}.`;
}

/** Small enough to be one of the platform's: nothing else of its answer is ever shown. */
function errorNumber(code: Json | undefined): number | undefined {
  const number = numberOf(code);
  return number !== undefined && Number.isInteger(number) && number >= 0 && number <= 999_999_999 ? number : undefined;
}

function knownError(code: number | undefined): PlatformError | undefined {
  if (code === undefined) return undefined;
  // 200 to 299 are all kinds of missing permissions.
  return ERROR_CODES.get(code >= 200 && code <= 299 ? 10 : code);
}

const numbered = (code: number | undefined): string => (code === undefined ? "" : ` (error ${code})`);

const TOKEN_HINT = "Check access_token and phone_number_id, and that the token has the permission to send messages.";

/** The answer for a wrong phone_number_id, and for one that the token may not use. */
const NO_SUCH_OBJECT: PlatformError = {
  means: "CHANNEL_UNAUTHORIZED",
  sentence: "The platform knows no such phone number id, or the access token may not use it",
};

function meaningOf(status: number): PlatformError["means"] {
  if (status === 401 || status === 403) return "CHANNEL_UNAUTHORIZED";
  const isFinal = status >= 400 && status <= 499 && ![408, 425, 429].includes(status);
  return isFinal ? "DELIVERY_REFUSED" : "DELIVERY_FAILED";
}

/**
 * Minutes that the platform foresees until an account may call again.
 * https://developers.facebook.com/docs/graph-api/overview/rate-limiting
 */
function usageWaitMs(header: string | undefined): number | undefined {
  if (header === undefined || header.length > 10_000) return undefined;
  try {
    const usages = Object.values(fieldsOf(JSON.parse(header) as Json))
      .flatMap(listOf)
      .map(fieldsOf);
    const minutes = usages.map(({ estimated_time_to_regain_access: wait }) => numberOf(wait) ?? 0);
    const longest = Math.max(0, ...minutes);
    return longest > 0 ? longest * 60_000 : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The platform's error numbers, those that a conversation can meet.
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/support/error-codes
 */
interface PlatformError {
  /**
   * DELIVERY_REFUSED: this message would be refused again. DELIVERY_FAILED: it may be taken later, perhaps once someone
   * has seen to the account.
   */
  readonly means: "CHANNEL_UNAUTHORIZED" | "DELIVERY_REFUSED" | "DELIVERY_FAILED";
  /** Without the full stop. */
  readonly sentence: string;
  readonly hint?: string;
  /** Where the documents say how long. */
  readonly waitMs?: number;
}

const refused = (sentence: string, hint?: string): PlatformError => ({
  means: "DELIVERY_REFUSED",
  sentence,
  ...(hint !== undefined && { hint }),
});
const failed = (sentence: string, waitMs?: number): PlatformError => ({
  means: "DELIVERY_FAILED",
  sentence,
  ...(waitMs !== undefined && { waitMs }),
});
const account = (sentence: string): PlatformError => ({
  means: "DELIVERY_FAILED",
  sentence,
  hint: "See to the account on the platform, then: svc inbox replay",
});
const unauthorized = (sentence: string): PlatformError => ({ means: "CHANNEL_UNAUTHORIZED", sentence });

const NO_PERMISSION = unauthorized("The access token lacks a permission");
const BAD_REQUEST = refused("The platform refuses a field of the request");

export const ERROR_CODES: ReadonlyMap<number, PlatformError> = new Map([
  // The token
  [0, unauthorized("The platform could not authenticate the access token")],
  [3, NO_PERMISSION],
  [10, NO_PERMISSION],
  [190, unauthorized("The access token has expired or was withdrawn")],
  [131005, NO_PERMISSION],

  // The account
  [33, unauthorized("The business phone number was deleted")],
  [368, account("The platform has blocked the business account for a time")],
  [130497, refused("The business account may not write to people in this country")],
  [131031, account("The platform has locked the business account")],
  [131037, account("The display name of the business phone number is not approved yet")],
  [131042, account("The business account has a problem with its payment method")],
  [131045, account("The business phone number has no valid certificate")],
  [131057, failed("The business account is in maintenance", 60_000)],
  [133010, account("The business phone number is not registered for the API")],

  // Too much at once
  [4, failed("The app has reached its limit of API calls", 60_000)],
  [80007, failed("The business account has reached its rate limit", 60_000)],
  [130429, failed("The phone number sends faster than it may")],
  [131048, failed("The phone number may not send for a time, because people blocked or reported it", 300_000)],
  // One message in six seconds to one person, after a burst.
  [131056, failed("Too many messages to one person in a short time", 6_000)],

  // The moment
  [1, failed("The platform failed for a reason it does not know")],
  [2, failed("The platform is down or overloaded")],
  [131000, failed("Something went wrong at the platform")],
  [131016, failed("The platform is not available for a moment")],
  [133004, failed("The platform's server is not available for a moment")],

  // The message
  [100, BAD_REQUEST],
  [131008, BAD_REQUEST],
  [131009, BAD_REQUEST],
  [130472, refused("The platform withholds the message: this person is in an experiment of its")],
  [131021, refused("The message is addressed to the business phone number itself")],
  [
    131026,
    refused(
      "It can't be delivered: the number is not on the platform, uses an old app, or has not agreed to its terms",
    ),
  ],
  [
    131030,
    refused(
      "The number is not on the test number's list of recipients",
      "Add it in the app dashboard, under API Setup.",
    ),
  ],
  [131047, refused("More than 24 hours have passed since this person last wrote, and only templates may be sent then")],
  [131049, refused("The platform chose not to deliver it, to keep people's chats healthy")],
  [131050, refused("This person does not want marketing messages of this business")],
  [131051, refused("The platform does not take messages of this type")],
  [131052, refused("The platform could not fetch the file")],
  [131053, refused("The platform could not read the file")],
  [131062, refused("This message can only be sent to a phone number, not to a user id")],
]);
