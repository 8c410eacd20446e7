/** Requests about the mailbox, with a token that is renewed when it ends. */
import { type FeatureContext, type FetchedMedia, type Json, SvcError } from "@svc/contract";
import { type AccessTokens, type PlatformAnswer, platformCall } from "@svc/kit";
import type { Config } from "../config.ts";
import { refusalOf } from "./refusal.ts";

export interface MailApi {
  /** Throws CHANNEL_UNAUTHORIZED, DELIVERY_REFUSED, DELIVERY_FAILED, REMOTE_*. */
  call(request: ApiRequest, signal: AbortSignal): Promise<PlatformAnswer>;
  /** The bytes of an answer as they come; what a refusal says is handed over too. Throws as media do. */
  download(path: string, write: Download, signal: AbortSignal): Promise<FetchedMedia>;
}

export interface ApiRequest {
  /** Below the mailbox, e.g. `messages/1`; parts are encoded already. Or a URL of another API of the platform. */
  readonly path: string;
  /** Of a list each item is a parameter of its own. */
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
