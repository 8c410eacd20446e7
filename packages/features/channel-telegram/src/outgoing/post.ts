/** A request about a chat: to where the chat is by now, in its turn, and no sooner than the platform wants it. */
import { type Json, SvcError } from "@svc/contract";
import type { RawApi } from "grammy/web";
import type { BotApi, Signal } from "../api/bot-api.ts";
import { Migrated } from "../api/special-refusals.ts";
import type { Migrations } from "./migrations.ts";
import type { Pacing } from "./pacing.ts";

export interface PostParts {
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
export function createPost({ api, migrations, pacing }: PostParts): Post {
  return async (chatId, work, signal, kind = "message") => {
    const post = async (to: number | string): Promise<Json | undefined> => {
      if (kind === "message") await pacing.turn(to, signal);
      else if (kind === "edit") pacing.edit(to);
      try {
        return await api.call((raw, s) => work(raw, to, s), signal);
      } catch (error) {
        const waitMs = error instanceof SvcError ? error.retryAfterMs : undefined;
        if (waitMs !== undefined && kind !== "sign") pacing.rest(to, waitMs);
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
