/** A request about a chat: to the chat's current id, within the platform's limits. */
import { type Clock, type Conversation, type FeatureContext, type Json, SvcError } from "@svc/contract";
import { parseJson } from "@svc/kit";
import type { RawApi } from "grammy/web";
import { type BotApi, Migrated, type Signal } from "./bot-api.ts";
import { fieldsOf, idOf } from "./protocol.ts";

export interface PostDeps {
  readonly api: BotApi;
  readonly migrations: Migrations;
  readonly pacing: Pacing;
}

export interface Post {
  /** As `BotApi.call`; `edit` waits for no turn. `work` is handed the chat's id. */
  (
    chatId: number | string,
    work: (raw: RawApi, chatId: number | string, signal: Signal) => Promise<unknown>,
    signal: AbortSignal,
    kind?: "message" | "edit" | "sign",
  ): Promise<Json | undefined>;
}

/** `sign`: what people see beside messages, which has no turn. */
export function createPost({ api, migrations, pacing }: PostDeps): Post {
  return async (chatId, work, signal, kind = "message") => {
    const post = async (to: number | string): Promise<Json | undefined> => {
      if (kind === "message") await pacing.turn(to, signal);
      else if (kind === "edit") pacing.edit(to);
      try {
        return await api.call((raw, s) => work(raw, to, s), signal);
      } catch (error) {
        const waitMs = error instanceof SvcError ? error.retryAfterMs : undefined;
        if (waitMs !== undefined && kind !== "sign") pacing.pause(to, waitMs);
        throw error;
      }
    };
    signal.throwIfAborted();
    const current = await migrations.current(chatId);
    try {
      return await post(current);
    } catch (error) {
      if (!(error instanceof Migrated)) throw error;
      await migrations.add(chatId, error.toChatId);
      return post(error.toChatId);
    }
  };
}

/** Groups that became supergroups have a new id: messages for the old id go to the new one. */
interface Migrations {
  /** Its id by now. Rejects with STORE_*. */
  current(chatId: number | string): Promise<number | string>;
  add(from: number | string, to: number): Promise<void>;
}

const NAME = "migrated-groups";

export function migrationsIn({ state }: Pick<FeatureContext, "state">): Migrations {
  let loading: Promise<Map<string, number>> | undefined;
  const load = (): Promise<Map<string, number>> =>
    (loading ??= state.get(NAME).then(idsOf, (error: unknown) => {
      // What could not be read now may be read by the next try.
      loading = undefined;
      throw error;
    }));
  return {
    async current(chatId) {
      return (await load()).get(String(chatId)) ?? chatId;
    },
    async add(from, to) {
      const all = await load();
      all.set(String(from), to);
      // A full disk is no error: the platform says it again.
      await state.set(NAME, JSON.stringify(Object.fromEntries(all))).catch(() => undefined);
    },
  };
}

function idsOf(text: string | undefined): Map<string, number> {
  const ids: Json | undefined = text === undefined ? undefined : parseJson(Buffer.from(text));
  return new Map(
    Object.entries(fieldsOf(ids)).flatMap(([from, to]) => (idOf(to) === undefined ? [] : [[from, to as number]])),
  );
}

/**
 * The platform's limits, kept before it has to say so: to one person about a message a second with short bursts above it, to
 * a group twenty a minute, edits included, to all thirty a second.
 * https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this
 */
interface Pacing {
  /** Waits for the turn of a message. Throws DELIVERY_FAILED with `retryAfterMs` where that is far off. */
  turn(chatId: number | string, signal: AbortSignal): Promise<void>;
  /** As it, of an edit of a draft, which never waits: the next one says more. */
  edit(chatId: number | string): void;
  /** The platform asked for no messages to this chat for so long. */
  pause(chatId: number | string, ms: number): void;
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

/** Edits of one answer take twelve of a group's twenty a minute: the others are for other messages. */
export const GROUP_DRAFT_MS = 5_000;

/** A message that would wait longer goes back to the outbox, with the time to retry. */
const LONGEST_MS = 10_000;
const MOST_CHATS = 1_000;

export function createPacing(clock: Pick<Clock, "monotonic" | "sleep">): Pacing {
  /** When the last message that was let through would be due, were they all sent evenly. */
  const dueAtMs = new Map<string, number>();
  const pausedUntilMs = new Map<string, number>();

  const waitOf = (key: string, { burst, everyMs }: Rate, nowMs: number): number =>
    Math.max(0, (dueAtMs.get(key) ?? 0) - (burst - 1) * everyMs - nowMs);
  const take = (key: string, { everyMs }: Rate, nowMs: number): void => {
    dueAtMs.set(key, Math.max(nowMs, dueAtMs.get(key) ?? 0) + everyMs);
    if (dueAtMs.size <= MOST_CHATS) return;
    for (const [other, atMs] of dueAtMs) if (atMs <= nowMs) dueAtMs.delete(other);
  };
  const demandNoPause = (key: string, nowMs: number): void => {
    const pauseMs = (pausedUntilMs.get(key) ?? 0) - nowMs;
    if (pauseMs > 0) throw later(pauseMs);
    pausedUntilMs.delete(key);
  };

  return {
    async turn(chatId, signal) {
      signal.throwIfAborted();
      const nowMs = clock.monotonic();
      const key = String(chatId);
      demandNoPause(key, nowMs);
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
      demandNoPause(key, nowMs);
      if (!isGroup(chatId)) return;
      const waitMs = waitOf(key, GROUP, nowMs);
      if (waitMs > 0) throw later(waitMs);
      take(key, GROUP, nowMs);
    },
    pause(chatId, ms) {
      pausedUntilMs.set(String(chatId), clock.monotonic() + ms);
    },
  };
}

const later = (retryAfterMs: number): SvcError =>
  new SvcError("DELIVERY_FAILED", "The platform wants us to write less for a while.", { retryAfterMs });

/** Where a message goes, as the platform wants it. https://core.telegram.org/bots/api#sendmessage */
export interface Target {
  /** A number, or the @username of a public group or channel. */
  readonly chatId: number | string;
  /** A topic's number. */
  readonly threadId: number | undefined;
}

/**
 * `-1001234567890`, `@somewhere`; also `-1001234567890/12`, since a `notification_target` may be a topic. Throws
 * DELIVERY_REFUSED for any other text.
 */
export function targetOf({ id, thread }: Conversation): Target {
  const [, chat, topic = thread] = /^(-?[1-9]\d{0,15}|@[A-Za-z]\w{3,31})(?:\/(\d{1,10}))?$/.exec(id.trim()) ?? [];
  if (chat === undefined || (topic !== undefined && !/^\d{1,10}$/.test(topic))) {
    throw new SvcError("DELIVERY_REFUSED", "This is no chat of the platform.", {
      hint: "Write the number of a chat, such as 123456789 or -1001234567890, or the @username of a public group.",
    });
  }
  // General has the number 1, and takes messages only without it.
  const threadId = topic === undefined || Number(topic) <= 1 ? undefined : Number(topic);
  return { chatId: chat.startsWith("@") ? chat : Number(chat), threadId };
}

/** Groups and channels have negative numbers. */
export const isGroup = (chatId: number | string): boolean => typeof chatId === "string" || chatId < 0;

/** A message of ours by its number. Throws DELIVERY_REFUSED for a text that is no number. */
export function messageNumber(platformId: string): number {
  if (!/^[1-9]\d{0,15}$/.test(platformId)) {
    throw new SvcError("DELIVERY_REFUSED", "This is no message of the platform.");
  }
  return Number(platformId);
}
