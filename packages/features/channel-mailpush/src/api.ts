/** Requests about the mailbox, with a token that is renewed when it ends. */
import { type FeatureContext, type FetchedMedia, type Json, SvcError } from "@svc/contract";
import { type AccessTokens, type PlatformAnswer, platformCall, retryAfterMs } from "@svc/kit";
import * as v from "valibot";
import type { Config } from "./config.ts";

export interface MailApi {
  /** Throws CHANNEL_UNAUTHORIZED, DELIVERY_REFUSED, DELIVERY_FAILED, REMOTE_*. */
  call(request: ApiRequest, signal: AbortSignal): Promise<PlatformAnswer>;
  /** The bytes of an answer as they come; what a refusal says is handed over too. Throws as media do. */
  download(path: string, write: Download, signal: AbortSignal): Promise<FetchedMedia>;
}

export interface ApiRequest {
  /** Below the mailbox, e.g. `messages/1`; parts are encoded already. Or a URL of another API of the platform. */
  readonly path: string;
  /** Each item of a list becomes a separate parameter. */
  readonly query?: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly method?: "GET" | "POST" | "PUT";
  readonly json?: Json;
  readonly upload?: { readonly contentType: string; readonly body: Uint8Array };
  /** Statuses beside 200 to 299 that are an answer and no error. */
  readonly answers?: readonly number[];
  readonly maxBytes?: number;
}

export interface Download {
  readonly maxBytes: number;
  readonly write: (chunk: Uint8Array) => Promise<void>;
}

const MAILBOX = "gmail/v1/users/me";
const DOWNLOAD_MS = 120_000;

export function createMailApi({ config, fetch, clock }: FeatureContext<Config>, tokens: AccessTokens): MailApi {
  /** `ask` with the token, and once more with another one when it is refused. */
  async function authorized<Answer extends { readonly status: number }>(
    ask: (authorization: Record<string, string>) => Promise<Answer>,
    signal: AbortSignal,
  ): Promise<Answer> {
    const token = await tokens.current(signal);
    const answer = await ask({ authorization: `Bearer ${token}` });
    if (answer.status !== 401 || !(await tokens.renew(token, signal))) return answer;
    return ask({ authorization: `Bearer ${await tokens.current(signal)}` });
  }

  return {
    async call({ path, query = {}, method, json, upload, answers = [], maxBytes }, signal) {
      const answer = await authorized(
        (authorization) =>
          platformCall(fetch, {
            url: urlOf(config.api_url, path, upload !== undefined, query),
            headers: { ...authorization, ...(upload && { "content-type": upload.contentType }) },
            ...(method && { method }),
            ...(json !== undefined && { json }),
            ...(upload && { body: upload.body }),
            ...(maxBytes !== undefined && { maxBytes }),
            answers: [401, 403, ...answers],
            signal,
            nowMs: clock.now(),
          }),
        signal,
      );
      if ((answer.status === 401 || answer.status === 403) && !answers.includes(answer.status)) {
        throw refusalOf(answer, clock.now());
      }
      return answer;
    },
    async download(path, { maxBytes, write }, signal) {
      const url = urlOf(config.api_url, path, false, {});
      const options = { write, maxBytes, signal, redirects: "same-host", timeoutMs: DOWNLOAD_MS } as const;
      const { status, truncated, headers } = await authorized(
        (own) => fetch(url, { ...options, headers: own }),
        signal,
      );
      if (status === 200 && !truncated) return {};
      if (truncated || status === 404 || status === 410) throw new SvcError("MEDIA_REFUSED");
      const refusal = refusalOf({ status, headers, json: undefined }, clock.now());
      if (refusal.code === "CHANNEL_UNAUTHORIZED") throw refusal;
      const { retryAfterMs } = refusal;
      throw new SvcError("REMOTE_UNREACHABLE", refusal.message, retryAfterMs === undefined ? {} : { retryAfterMs });
    },
  };
}

function urlOf(apiUrl: string, path: string, isUpload: boolean, query: NonNullable<ApiRequest["query"]>): string {
  const url = new URL(/^https?:/.test(path) ? path : `${apiUrl}/${isUpload ? "upload/" : ""}${MAILBOX}/${path}`);
  for (const [name, value] of Object.entries(query)) {
    for (const one of typeof value === "string" ? [value] : (value ?? [])) url.searchParams.append(name, one);
  }
  return url.href;
}

/** The error for a 401 or 403. The platform also answers 403 to rate limits. */
const errorAnswer = v.object({
  error: v.object({ errors: v.fallback(v.array(v.object({ reason: v.fallback(v.string(), "") })), []) }),
});

const TOO_OFTEN = new Set(["rateLimitExceeded", "userRateLimitExceeded", "dailyLimitExceeded", "quotaExceeded"]);

export function refusalOf({ status, headers, json }: PlatformAnswer, nowMs: number): SvcError {
  const waitMs = retryAfterMs(headers["retry-after"], nowMs);
  const wait = waitMs === undefined ? {} : { retryAfterMs: waitMs };
  const answer = v.safeParse(errorAnswer, json);
  const reasons = answer.success ? answer.output.error.errors.map(({ reason }) => reason) : [];
  if (reasons.some((reason) => TOO_OFTEN.has(reason))) {
    return new SvcError("DELIVERY_FAILED", "The platform's rate limit is reached.", wait);
  }
  const message = `The platform answered with status ${status}.`;
  if (status !== 401 && status !== 403) return new SvcError("DELIVERY_FAILED", message, wait);
  return new SvcError("CHANNEL_UNAUTHORIZED", message, {
    hint:
      status === 401
        ? "The token has ended or is wrong; with refresh_token, client_id and client_secret it is renewed by itself."
        : "The token lacks a scope: it needs gmail.modify, and pubsub for the set-up.",
  });
}

/** A place in a mailbox's history: a number with more digits than a float holds, so as its digits. */
export const historyIdSchema = v.pipe(
  v.union([v.string(), v.pipe(v.number(), v.safeInteger())]),
  v.transform(String),
  v.regex(/^\d{1,40}$/),
);
