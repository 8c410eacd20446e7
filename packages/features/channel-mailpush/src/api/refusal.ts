/** What a 401 or 403 means. The platform answers 403 also where it is only asked too often. */
import { SvcError } from "@svc/contract";
import { type PlatformAnswer, retryAfterMs } from "@svc/kit";
import * as v from "valibot";

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
    return new SvcError("DELIVERY_FAILED", "The platform is asked too often.", wait);
  }
  const told = `The platform answered with status ${status}.`;
  if (status !== 401 && status !== 403) return new SvcError("DELIVERY_FAILED", told, wait);
  return new SvcError("CHANNEL_UNAUTHORIZED", told, {
    hint:
      status === 401
        ? "The token has ended or is wrong; with refresh_token, client_id and client_secret it is renewed by itself."
        : "The token lacks a scope: it needs gmail.modify, and pubsub for the set-up.",
  });
}
