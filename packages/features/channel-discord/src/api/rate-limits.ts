/**
 * The platform says with each answer how much more it takes. Who goes on asking is shut out by address.
 * https://docs.discord.com/developers/topics/rate-limits
 */
import { type Clock, SvcError } from "@svc/contract";
import type { PlatformAnswer } from "@svc/kit";
import { fieldsOf } from "./fields.ts";
import { waitMsOf } from "./problems.ts";

export interface RateLimits {
  /** Waits for a moment, or throws DELIVERY_FAILED with `retryAfterMs` where it would take longer. */
  pass(route: string, signal: AbortSignal): Promise<void>;
  learn(route: string, answer: PlatformAnswer): void;
}

/** Longer than this nobody's message is held back here: the outbox knows how to wait. */
const LONGEST_WAIT_MS = 5_000;

export function rateLimits(clock: Pick<Clock, "now" | "monotonic" | "sleep">): RateLimits {
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
      // Whoever waited longer may have closed it again.
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
export function routeOf(method: string, path: string): string {
  const [top = "", ...parts] = path.replace(/\/reactions\/.*/, "/reactions").split("/");
  const own = top === "webhooks" || top === "interactions" ? 2 : 1;
  return `${method} ${[top, ...parts.map((part, at) => (at >= own && /^\d+$/.test(part) ? ":id" : part))].join("/")}`;
}
