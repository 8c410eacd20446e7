/**
 * How much a bot may write: about a message a second to one chat with short bursts above it, twenty a minute to a group,
 * thirty a second to all. https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this
 */
import type { Clock } from "@svc/contract";
import { TelegramError } from "./answer.ts";

interface Limit {
  readonly most: number;
  readonly withinMs: number;
}

const ALL: Limit = { most: 30, withinMs: 1_000 };
const GROUP: Limit = { most: 20, withinMs: 60_000 };
const PRIVATE: Limit = { most: 80, withinMs: 60_000 };

/** Throws 429 for one too many. */
export function rateLimits(clock: Pick<Clock, "monotonic">): (chatId: number) => void {
  const sentAtMs = new Map<string, number[]>();
  const count = (key: string, { most, withinMs }: Limit): void => {
    const nowMs = clock.monotonic();
    const recent = (sentAtMs.get(key) ?? []).filter((atMs) => nowMs - atMs < withinMs);
    if (recent.length >= most) {
      const waitSecs = Math.ceil(((recent[0] as number) + withinMs - nowMs) / 1000);
      throw new TelegramError({
        code: 429,
        description: `Too Many Requests: retry after ${waitSecs}`,
        parameters: { retry_after: waitSecs },
      });
    }
    sentAtMs.set(key, [...recent, nowMs]);
  };
  return (chatId) => {
    count("all", ALL);
    count(String(chatId), chatId < 0 ? GROUP : PRIVATE);
  };
}
