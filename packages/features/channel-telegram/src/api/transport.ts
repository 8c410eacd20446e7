/**
 * The HTTP client that grammY is handed: the service's guarded one. Whatever comes back that is not in the platform's own
 * form (a proxy's page, a server that is down) becomes an error here.
 * https://core.telegram.org/bots/api#making-requests
 */
import type { FeatureContext, Json } from "@svc/contract";
import { platformCall, type PlatformAnswer, retryAfterMs } from "@svc/kit";
import { fieldsOf } from "../fields.ts";
import { problemOf } from "./problems.ts";

/** What grammY asks its `fetch` for, and the one thing that it does with the answer. */
export type Transport = (
  url: string,
  init: {
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string | AsyncIterable<Uint8Array>;
    readonly signal: AbortSignal;
  },
) => Promise<{ json(): Promise<Json> }>;

/** A request for updates is held by the platform for so long. */
export const POLL_SECS = 30;

/** Beyond the platform's own: who says nothing for longer is gone. */
const POLL_LIMIT_MS = (POLL_SECS + 15) * 1000;
const UPLOAD_LIMIT_MS = 300_000;
const LIMIT_MS = 30_000;
/** A hundred updates, each with a long text and its formatting. */
const MAX_ANSWER_BYTES = 16_777_216;

export function guardedTransport({ fetch, clock }: Pick<FeatureContext, "fetch" | "clock">): Transport {
  return async (url, { headers, body, signal }) => {
    const given = typeof body === "string" ? body : await collected(body);
    const answer = await platformCall(fetch, {
      url,
      method: "POST",
      headers: { "content-type": headers["content-type"] ?? "application/json" },
      body: given,
      answers: ERROR_STATUSES,
      maxBytes: MAX_ANSWER_BYTES,
      timeoutMs: limitOf(url, typeof body !== "string"),
      signal,
      nowMs: clock.now(),
    });
    const envelope = envelopeOf(answer, clock.now());
    return { json: async () => envelope };
  };
}

/** All of them are answers here: what they mean is for the body to say. */
const ERROR_STATUSES: readonly number[] = Array.from({ length: 200 }, (_, index) => 400 + index);

const limitOf = (url: string, isUpload: boolean): number =>
  isUpload ? UPLOAD_LIMIT_MS : url.endsWith("/getUpdates") ? POLL_LIMIT_MS : LIMIT_MS;

/** Throws what a refusal in another form than the platform's means; an acceptance in one is an acceptance. */
function envelopeOf({ status, headers, json }: PlatformAnswer, nowMs: number): Json {
  const fields = fieldsOf(json);
  const waitMs = retryAfterMs(headers["retry-after"], nowMs);
  if (fields["ok"] === true) return fields as Json;
  if (fields["ok"] === false) {
    const wait = waitMs === undefined ? {} : { retry_after: waitMs / 1000 };
    return { ...fields, parameters: { ...wait, ...fieldsOf(fields["parameters"]) } };
  }
  if (status < 400) return { ok: true, result: null };
  throw problemOf({ code: status, description: "", retryAfterMs: waitMs });
}

async function collected(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}
