/** How updates arrive: by long polling, or posted by the platform. */
import {
  DEDUPE_MS,
  type FeatureContext,
  type Ingress,
  type IngressReply,
  type Json,
  type RawRequest,
  type SampleDelivery,
  type SampleMessage,
  SvcError,
  type Verdict,
} from "@svc/contract";
import { type Backoff, equalSecrets, readJson, retryDelayMs } from "@svc/kit";
import { createHash } from "node:crypto";
import { type BotApi, POLL_SECS } from "./bot-api.ts";
import type { Config } from "./config.ts";
import { CHANNEL, fieldsOf, idOf, UPDATE_KINDS } from "./protocol.ts";
import { endsInAlbum, inboundOf, type ReadUpdate, type UpdateReader } from "./updates.ts";

/**
 * Long polling. Updates are confirmed by asking for those behind them, which happens only once they are on disk: what a
 * crash cuts off is handed over again, and known by its id.
 * https://core.telegram.org/bots/api#getupdates
 */
export interface PollingDeps {
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
/** After updates that could not be stored. */
const BACKOFF: Backoff = { firstMs: 1_000, longestMs: 30_000 };

export function createPolling({ api, read, context }: PollingDeps): Polling {
  const { clock, log, receive } = context;
  /** Behind the last update that is on disk. Not stored: after a week without updates the platform numbers them anew. */
  let offset: number | undefined;
  let failures = 0;

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

  /** A batch that ends inside an album is fetched again, as long as it grows. */
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
  const store = async (all: readonly ReadUpdate[], signal: AbortSignal): Promise<boolean> => {
    try {
      const inbound = inboundOf(all);
      if (inbound.length > 0) await receive(inbound);
      failures = 0;
      return true;
    } catch (error) {
      signal.throwIfAborted();
      const reason = error instanceof SvcError ? error.code : "unknown";
      failures += 1;
      const retryInMs = retryDelayMs(failures, BACKOFF);
      log.warn("updates could not be stored; will ask for them again", { channel: CHANNEL, reason, retryInMs });
      await clock.sleep(retryInMs, signal);
      return false;
    }
  };

  const answerPresses = (all: readonly ReadUpdate[], signal: AbortSignal): void => {
    for (const { queryId } of all) {
      if (queryId === undefined) continue;
      // Not awaited: until it is answered, the app only shows a spinner.
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
      if (!(await store(all, signal))) continue;
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

/** Deliveries of webhook mode, with a secret in a header. https://core.telegram.org/bots/api#setwebhook */
export function ingressOf(config: Pick<Config, "webhook_secret" | "allowed_users">, read: UpdateReader): Ingress {
  return {
    path: "/telegram",
    methods: ["POST"],
    signed: true,
    // The platform gives up a delivery after a day: an older one, whose id is forgotten, is a replay.
    maxAgeMs: DEDUPE_MS,
    verify: (request) => verified(request, config.webhook_secret),
    parse({ body, receivedAtMs }) {
      const update = read(readJson(body), receivedAtMs);
      return {
        inbound: inboundOf([update]),
        ...(update.queryId !== undefined && { reply: answerTo(update.queryId) }),
      };
    },
    sample: (message) => sampleDelivery(message, config),
  };
}

function verified({ headers }: RawRequest, secret: string | undefined): Verdict {
  const given = headers["x-telegram-bot-api-secret-token"];
  if (equalSecrets(given, secret)) return { ok: true };
  const why = given === undefined ? "the secret token is missing" : "the secret token is not webhook_secret";
  return { ok: false, code: "BAD_SIGNATURE", why };
}

/** A request to the platform may be made in the answer to its delivery. https://core.telegram.org/bots/api#making-requests-when-getting-updates */
const answerTo = (queryId: string): IngressReply => ({
  status: 200,
  contentType: "application/json",
  body: JSON.stringify({ method: "answerCallbackQuery", callback_query_id: queryId }),
});

function sampleDelivery(
  { text, from, id, atMs }: SampleMessage,
  { webhook_secret: secret, allowed_users: allowed }: Pick<Config, "webhook_secret" | "allowed_users">,
): SampleDelivery {
  const who = (from ?? allowed.find((entry) => entry.trim() !== "*") ?? ANY_USER).trim();
  const isId = /^\d{1,16}$/.test(who);
  const user = { id: isId ? Number(who) : numberOf(who), first_name: "svc webhook send" };
  const message = {
    message_id: numberOf(id),
    from: { ...user, is_bot: false, ...(!isId && { username: who.replace(/^@/, "") }) },
    chat: { ...user, type: "private" },
    date: Math.floor(atMs / 1000),
    text,
  };
  return {
    method: "POST",
    query: "",
    headers: {
      "content-type": "application/json",
      ...(secret !== undefined && { "x-telegram-bot-api-secret-token": secret }),
    },
    body: Buffer.from(JSON.stringify({ update_id: numberOf(id), message })),
  };
}

/** An id of the platform's test servers. */
const ANY_USER = "9996610000";

/** The platform numbers everything: a text as a number, the same each time. */
const numberOf = (text: string): number => (createHash("sha256").update(text).digest().readUInt32BE(0) >>> 1) + 1;
