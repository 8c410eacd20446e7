/** Requests to the REST API, version 2010-04-01: forms in, JSON out. https://www.twilio.com/docs/usage/api */
import { type FeatureContext, type Json, SvcError } from "@svc/contract";
import { type Fields, fieldsOf, type PlatformAnswer, platformCall, retryAfterMs } from "@svc/kit";
import type { Config } from "./config.ts";

/** A list stands for a field that comes several times. */
export type FormFields = Readonly<Record<string, string | number | readonly string[] | undefined>>;

export interface PlatformApi {
  /** Paths are below the account's. Throws what the error of an answer is to us, see `problemOf`. */
  get(path: string, query: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Fields>;
  post(path: string, form: FormFields, signal: AbortSignal): Promise<Fields>;
  /** As the others; undefined where there is no such call, or it is over. */
  getCall(sid: string, signal: AbortSignal): Promise<Fields | undefined>;
  updateCall(sid: string, form: FormFields, signal: AbortSignal): Promise<Fields | undefined>;
  /** For files. */
  readonly root: string;
  readonly headers: Readonly<Record<string, string>>;
}

export function platformApi(
  { api_url: apiUrl, account_sid: account, auth_token: token }: Config,
  { clock, fetch }: Pick<FeatureContext, "clock" | "fetch">,
): PlatformApi {
  const root = `${apiUrl}/2010-04-01/Accounts/${account}`;
  const headers = { authorization: `Basic ${Buffer.from(`${account}:${token}`).toString("base64")}` };
  const common = (signal: AbortSignal) => ({ answers: ERROR_STATUSES, nowMs: clock.now(), signal });
  const read = (
    path: string,
    query: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<PlatformAnswer> => {
    const asked = new URLSearchParams(query).toString();
    const url = `${root}${path}.json${asked === "" ? "" : `?${asked}`}`;
    return platformCall(fetch, { ...common(signal), method: "GET", url, headers });
  };
  const write = (path: string, form: FormFields, signal: AbortSignal): Promise<PlatformAnswer> =>
    platformCall(fetch, {
      ...common(signal),
      method: "POST",
      url: `${root}${path}.json`,
      headers: { ...headers, "content-type": "application/x-www-form-urlencoded" },
      body: written(form),
    });
  const taken = (answer: PlatformAnswer): Fields => {
    if (answer.status >= 400) throw problemOf(answer, clock.now());
    return fieldsOf(answer.json);
  };
  const ofCall = (answer: PlatformAnswer): Fields | undefined =>
    answer.status >= 400 && isOver(answer) ? undefined : taken(answer);
  return {
    root,
    headers,
    get: async (path, query, signal) => taken(await read(path, query, signal)),
    post: async (path, form, signal) => taken(await write(path, form, signal)),
    getCall: async (sid, signal) => ofCall(await read(`/Calls/${sid}`, {}, signal)),
    updateCall: async (sid, form, signal) => ofCall(await write(`/Calls/${sid}`, form, signal)),
  };
}

function written(form: FormFields): string {
  const fields = new URLSearchParams();
  for (const [name, value] of Object.entries(form)) {
    const values = value === undefined ? [] : typeof value === "object" ? value : [String(value)];
    for (const one of values) fields.append(name, one);
  }
  return fields.toString();
}

/** All of them are answers here: which of them is worth another try is for the body to say. */
const ERROR_STATUSES: readonly number[] = Array.from({ length: 200 }, (_, index) => 400 + index);

/**
 * What an error of the platform means for us: whether the call, the credentials or only the moment is wrong.
 * https://www.twilio.com/docs/api/errors
 */
type Meaning = "CHANNEL_UNAUTHORIZED" | "DELIVERY_REFUSED" | "DELIVERY_FAILED";

interface Problem {
  readonly means: Meaning;
  readonly sentence: string;
  readonly hint?: string;
}

const refused = (sentence: string, hint?: string): Problem => ({
  means: "DELIVERY_REFUSED",
  sentence,
  ...(hint !== undefined && { hint }),
});

const NOT_A_NUMBER = refused("This is no phone number that can be called");
const NOT_OURS = refused("The account may not call from from_number", "Check from_number in the platform's console.");

const PROBLEMS: ReadonlyMap<number, Problem> = new Map([
  [10001, { means: "CHANNEL_UNAUTHORIZED", sentence: "The account is not active" }],
  [10004, { means: "DELIVERY_FAILED", sentence: "The account has as many calls as it may have at the same time" }],
  [13223, NOT_A_NUMBER],
  [13224, NOT_A_NUMBER],
  [13225, refused("The platform refuses to call this number")],
  [13227, refused("The account may not call this country", "Allow it in the console: Voice, Geographic permissions.")],
  [20003, { means: "CHANNEL_UNAUTHORIZED", sentence: "The account SID or the auth token is wrong" }],
  [20404, refused("The platform knows no such call")],
  [20429, { means: "DELIVERY_FAILED", sentence: "Too many requests" }],
  [21201, NOT_A_NUMBER],
  [21205, refused("The platform refuses the address of this service", "Check gateway.public_url or webhook_url.")],
  [21210, NOT_OURS],
  [21211, NOT_A_NUMBER],
  [21212, NOT_OURS],
  [21214, refused("This phone number can't be reached")],
  [21215, refused("The account may not call this country", "Allow it in the console: Voice, Geographic permissions.")],
  [21216, refused("The account may not call this number")],
  [21217, NOT_A_NUMBER],
  [21219, refused("A trial account may call verified numbers only", "Verify the number in the console, or upgrade.")],
  [21220, refused("The call is not in progress")],
  [32018, refused("The text is too long for the platform")],
]);

/** The error for an unsuccessful status. Leaves out the platform's text, which may quote anything. */
function problemOf({ status, headers, json }: PlatformAnswer, nowMs: number): SvcError {
  const code = errorCode(json);
  const known = code === undefined ? undefined : PROBLEMS.get(code);
  const means = known?.means ?? meaningOf(status);
  const waitMs = retryAfterMs(headers["retry-after"], nowMs);
  const hint = known?.hint ?? (means === "CHANNEL_UNAUTHORIZED" ? "Check account_sid and auth_token." : undefined);
  const numbered = code === undefined ? "" : ` (error ${code})`;
  return new SvcError(means, `${known?.sentence ?? `The platform answered with status ${status}`}${numbered}.`, {
    ...(hint !== undefined && { hint }),
    ...(waitMs !== undefined && means !== "DELIVERY_REFUSED" && { retryAfterMs: waitMs }),
  });
}

/** Whether nothing can be said in this call any more. */
const isOver = ({ json, status }: PlatformAnswer): boolean =>
  [20404, 21220].includes(errorCode(json) ?? 0) || status === 404;

function errorCode(json: Json | undefined): number | undefined {
  const { code } = fieldsOf(json);
  return typeof code === "number" && Number.isInteger(code) && code > 0 && code < 1_000_000 ? code : undefined;
}

function meaningOf(status: number): Meaning {
  if (status === 401 || status === 403) return "CHANNEL_UNAUTHORIZED";
  const isFinal = status >= 400 && status <= 499 && ![408, 425, 429].includes(status);
  return isFinal ? "DELIVERY_REFUSED" : "DELIVERY_FAILED";
}
