/** https://docs.discord.com/developers/topics/rate-limits */
import type { PlatformReply } from "../base.ts";

export interface DiscordLimits {
  /** The next requests that fit are refused, one each. Seconds. */
  refuseNext(pattern: RegExp, retryAfter: number, scope?: "user" | "global" | "shared"): void;
  /** Answers to what fits say that so many more are taken until so many seconds have passed. */
  mark(pattern: RegExp, remaining: number, resetAfter: number): void;
  meet(method: string, path: string): PlatformReply | undefined;
  marked(method: string, path: string, reply: PlatformReply): PlatformReply;
}

export function discordLimits(): DiscordLimits {
  const refusals: { pattern: RegExp; retryAfter: number; scope: string }[] = [];
  const marks: { pattern: RegExp; remaining: number; resetAfter: number }[] = [];
  return {
    refuseNext: (pattern, retryAfter, scope = "user") => void refusals.push({ pattern, retryAfter, scope }),
    mark: (pattern, remaining, resetAfter) => void marks.unshift({ pattern, remaining, resetAfter }),
    meet(method, path) {
      const at = refusals.findIndex(({ pattern }) => pattern.test(`${method} ${path}`));
      const [refused] = at < 0 ? [] : refusals.splice(at, 1);
      if (refused === undefined) return undefined;
      const { retryAfter, scope } = refused;
      return {
        status: 429,
        headers: {
          // Whole seconds; the body says it exactly.
          "retry-after": String(Math.ceil(retryAfter)),
          "x-ratelimit-scope": scope,
          ...(scope === "global" && { "x-ratelimit-global": "true" }),
        },
        json: { message: "You are being rate limited.", retry_after: retryAfter, global: scope === "global" },
      };
    },
    marked(method, path, reply) {
      const mark = marks.find(({ pattern }) => pattern.test(`${method} ${path}`));
      if (typeof reply === "function") return reply;
      const { remaining = 4, resetAfter = 5 } = mark ?? {};
      const headers = {
        "x-ratelimit-limit": "5",
        "x-ratelimit-remaining": String(remaining),
        "x-ratelimit-reset-after": String(resetAfter),
        "x-ratelimit-bucket": Buffer.from(`${method} ${path.replaceAll(/\d+/g, ":id")}`)
          .toString("hex")
          .slice(0, 32),
      };
      return { ...reply, headers: { ...headers, ...reply.headers } };
    },
  };
}
