/** Sending: one reply, one request. Retrying is the delivery's business; saying when is this channel's. */
import { type Contributions, type FeatureContext, type FetchResult, type Receipt, SvcError } from "@svc/contract";
import type { Config } from "./index.ts";

/** Of the platform's answer only a short id is read. */
const MAX_ANSWER_BYTES = 65_536;

export function create({ config, clock, fetch }: FeatureContext<Config>): Contributions {
  const authorization = config.token === undefined ? {} : { authorization: `Bearer ${config.token}` };
  return {
    channel: {
      async send({ conversation, text, deliveryId }, signal) {
        signal.throwIfAborted();
        const answer = await fetch(config.api_url, {
          method: "POST",
          headers: { "content-type": "application/json", "idempotency-key": deliveryId, ...authorization },
          body: JSON.stringify({ to: conversation.id, thread: conversation.thread, text }),
          maxBytes: MAX_ANSWER_BYTES,
          signal,
        });
        if (answer.status < 200 || answer.status > 299) throw refusal(answer, clock.now());
        return receiptOf(answer);
      },
    },
  };
}

/** The answer's words stay out of it: a platform that quotes the request would put the token into the log. */
function refusal({ status, headers }: FetchResult, nowMs: number): SvcError {
  const retryAfterMs = waitOf(headers["retry-after"], nowMs);
  const code = status === 429 ? "RATE_LIMITED" : "REMOTE_UNREACHABLE";
  return new SvcError(code, `The platform answered with status ${status}.`, {
    hint: "Check api_url and token in [__section__].",
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

/** RFC 9110, 10.2.3: whole seconds, or a date. */
function waitOf(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const atMs = Date.parse(header);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}

/** An answer without a usable id is an acceptance all the same. */
function receiptOf({ bytes }: FetchResult): Receipt {
  try {
    const body: unknown = JSON.parse(new TextDecoder().decode(bytes));
    const id = typeof body === "object" && body !== null && "id" in body ? body.id : undefined;
    return typeof id === "string" && id !== "" ? { platformId: id } : {};
  } catch {
    return {};
  }
}
