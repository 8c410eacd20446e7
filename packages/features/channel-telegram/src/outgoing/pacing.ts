/**
 * The platform's limits, kept before it has to say so: to one person about a message a second with short bursts above it, to
 * a group twenty a minute, edits included, to all thirty a second.
 * https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this
 */
import { type Clock, SvcError } from "@svc/contract";
import { isGroup } from "./target.ts";

export interface Pacing {
  /** Waits for the turn of a message. Throws DELIVERY_FAILED with `retryAfterMs` where that is far off. */
  turn(chatId: number | string, signal: AbortSignal): Promise<void>;
  /** As it, of an edit of a draft, which never waits: the next one says more. */
  edit(chatId: number | string): void;
  /** The platform wants nothing there for so long. */
  rest(chatId: number | string, ms: number): void;
}

/** So many at once, and one more in each of so many milliseconds. */
interface Rate {
  readonly burst: number;
  readonly everyMs: number;
}

/** Five at once and fifteen in the minute after them are twenty. */
const GROUP: Rate = { burst: 5, everyMs: 4_000 };
const PRIVATE: Rate = { burst: 20, everyMs: 1_000 };
const ALL: Rate = { burst: 20, everyMs: 100 };

/** Edits of one answer take twelve of a group's twenty a minute: the rest is for what else is said there. */
export const GROUP_DRAFT_MS = 5_000;

/** Whoever would wait for longer is told when to come again. */
const LONGEST_MS = 10_000;
const MOST_CHATS = 1_000;

export function createPacing(clock: Pick<Clock, "monotonic" | "sleep">): Pacing {
  /** When the last message that was let through would be due, were they all sent evenly. */
  const dueAtMs = new Map<string, number>();
  const restsUntilMs = new Map<string, number>();

  const waitOf = (key: string, { burst, everyMs }: Rate, nowMs: number): number =>
    Math.max(0, (dueAtMs.get(key) ?? 0) - (burst - 1) * everyMs - nowMs);
  const take = (key: string, { everyMs }: Rate, nowMs: number): void => {
    dueAtMs.set(key, Math.max(nowMs, dueAtMs.get(key) ?? 0) + everyMs);
    if (dueAtMs.size <= MOST_CHATS) return;
    for (const [other, atMs] of dueAtMs) if (atMs <= nowMs) dueAtMs.delete(other);
  };
  const demandNoRest = (key: string, nowMs: number): void => {
    const restMs = (restsUntilMs.get(key) ?? 0) - nowMs;
    if (restMs > 0) throw later(restMs);
    restsUntilMs.delete(key);
  };

  return {
    async turn(chatId, signal) {
      signal.throwIfAborted();
      const nowMs = clock.monotonic();
      const key = String(chatId);
      demandNoRest(key, nowMs);
      const own = isGroup(chatId) ? GROUP : PRIVATE;
      const waitMs = Math.max(waitOf(key, own, nowMs), waitOf("all", ALL, nowMs));
      if (waitMs > LONGEST_MS) throw later(waitMs);
      take(key, own, nowMs);
      take("all", ALL, nowMs);
      if (waitMs > 0) await clock.sleep(waitMs, signal);
    },
    edit(chatId) {
      const nowMs = clock.monotonic();
      const key = String(chatId);
      demandNoRest(key, nowMs);
      if (!isGroup(chatId)) return;
      const waitMs = waitOf(key, GROUP, nowMs);
      if (waitMs > 0) throw later(waitMs);
      take(key, GROUP, nowMs);
    },
    rest(chatId, ms) {
      restsUntilMs.set(String(chatId), clock.monotonic() + ms);
    },
  };
}

const later = (retryAfterMs: number): SvcError =>
  new SvcError("DELIVERY_FAILED", "The platform wants us to write less for a while.", { retryAfterMs });
