/**
 * Long polling. Updates are confirmed by asking for those behind them, which happens only once they are on disk: what a
 * crash cuts off is handed over again, and known by its id.
 * https://core.telegram.org/bots/api#getupdates
 */
import { type FeatureContext, type Json, SvcError } from "@svc/contract";
import type { BotApi } from "../api/bot-api.ts";
import { POLL_SECS } from "../api/transport.ts";
import { fieldsOf, idOf } from "../fields.ts";
import { CHANNEL, UPDATE_KINDS } from "../names.ts";
import { endsInAlbum, inboundOf } from "./album.ts";
import type { ReadUpdate, UpdateReader } from "./update.ts";

export interface PollingParts {
  readonly api: BotApi;
  readonly read: UpdateReader;
  readonly context: Pick<FeatureContext, "clock" | "log" | "receive">;
}

/** Asks until it is aborted. Throws as `BotApi.call`, and REMOTE_UNREACHABLE for an answer that can't be read. */
export type Polling = (signal: AbortSignal) => Promise<void>;

const MOST_UPDATES = 100;
/** The pictures of an album come one by one. */
const ALBUM_MS = 700;
/** A server that answers at once although there is nothing would be asked a thousand times a second. */
const LEAST_MS = 1_000;
const FIRST_REST_MS = 1_000;
const LONGEST_REST_MS = 30_000;

export function createPolling({ api, read, context }: PollingParts): Polling {
  const { clock, log, receive } = context;
  /** Behind the last update that is on disk. Not kept: after a week without updates the platform numbers them anew. */
  let offset: number | undefined;
  let refusals = 0;

  const ask = async (timeoutSecs: number, signal: AbortSignal): Promise<readonly Json[]> => {
    const updates = await api.call(
      (raw, s) =>
        raw.getUpdates(
          {
            ...(offset !== undefined && { offset }),
            limit: MOST_UPDATES,
            timeout: timeoutSecs,
            allowed_updates: UPDATE_KINDS,
          },
          s,
        ),
      signal,
    );
    if (!Array.isArray(updates)) throw unreadable();
    return updates as Json[];
  };

  /** A batch that ends in the middle of an album is asked for again, as long as it grows. */
  const wholeBatch = async (signal: AbortSignal): Promise<{ updates: readonly Json[]; all: readonly ReadUpdate[] }> => {
    let updates = await ask(POLL_SECS, signal);
    for (;;) {
      const all = updates.map((update) => read(update, clock.now()));
      if (!endsInAlbum(all) || updates.length >= MOST_UPDATES) return { updates, all };
      await clock.sleep(ALBUM_MS, signal);
      const again = await ask(0, signal);
      if (again.length <= updates.length) return { updates, all };
      updates = again;
    }
  };

  /** Whether they are on disk. */
  const keep = async (all: readonly ReadUpdate[], signal: AbortSignal): Promise<boolean> => {
    try {
      const inbound = inboundOf(all);
      if (inbound.length > 0) await receive(inbound);
      refusals = 0;
      return true;
    } catch (error) {
      signal.throwIfAborted();
      const reason = error instanceof SvcError ? error.code : "unknown";
      const restMs = Math.min(LONGEST_REST_MS, FIRST_REST_MS * 2 ** Math.min(refusals, 10));
      refusals += 1;
      log.warn("what came in can't be kept yet; it is asked for again", { channel: CHANNEL, reason, restMs });
      await clock.sleep(restMs, signal);
      return false;
    }
  };

  const answerPresses = (all: readonly ReadUpdate[], signal: AbortSignal): void => {
    for (const { queryId } of all) {
      if (queryId === undefined) continue;
      // Nobody waits for it: the app only shows that it waits.
      void api
        .call((raw, s) => raw.answerCallbackQuery({ callback_query_id: queryId }, s), signal)
        .catch((error: unknown) =>
          log.debug("a press was not answered", { channel: CHANNEL, reason: (error as SvcError).code }),
        );
    }
  };

  return async (signal) => {
    while (!signal.aborted) {
      const askedAtMs = clock.monotonic();
      const { updates, all } = await wholeBatch(signal);
      if (!(await keep(all, signal))) continue;
      answerPresses(all, signal);
      // The request that was answered has confirmed what was before it.
      offset = updates.length === 0 ? undefined : lastId(updates) + 1;
      if (updates.length === 0 && clock.monotonic() - askedAtMs < LEAST_MS) await clock.sleep(LEAST_MS, signal);
    }
  };
}

/** Without it they would be asked for again and again. */
function lastId(updates: readonly Json[]): number {
  const last = idOf(fieldsOf(updates.at(-1))["update_id"]);
  if (last === undefined) throw unreadable();
  return last;
}

const unreadable = (): SvcError => new SvcError("REMOTE_UNREACHABLE", "The platform's answer can't be read.");
