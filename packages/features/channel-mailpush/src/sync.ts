/** Reads new mail and hands it over; the position moves only after that. */
import { type FeatureContext, type Inbound, type Logger, SvcError } from "@svc/contract";
import { Semaphore } from "@svc/kit";
import * as v from "valibot";
import { historyIdSchema, type MailApi } from "./api.ts";
import { type Mail, readMail } from "./mail.ts";
import { keepPlace, type Place, readPlace } from "./mailbox.ts";
import type { Labels } from "./watch.ts";

export interface SyncOptions {
  readonly api: MailApi;
  readonly labels: Labels;
  /** Where the history is. */
  readonly historyNow: (signal: AbortSignal) => Promise<string>;
  readonly context: Pick<FeatureContext, "state" | "receive" | "clock" | "log">;
  /** The message for the agent; undefined for an ignored sender or kind of mail. */
  readonly inboundOf: (mail: Mail, labelIds: readonly string[], signal: AbortSignal) => Promise<Inbound | undefined>;
}

export interface Sync {
  /** One after the other, for all callers. `upTo`: nothing is done when the mailbox was read as far as that. */
  run(signal: AbortSignal, upTo?: bigint): Promise<void>;
}

export function createSync(options: SyncOptions): Sync {
  const lock = new Semaphore(1);
  return { run: (signal, upTo) => lock.run(() => sync(options, signal, upTo), signal) };
}

async function sync(options: SyncOptions, signal: AbortSignal, upTo: bigint | undefined): Promise<void> {
  const { api, labels, context } = options;
  signal.throwIfAborted();
  const place = await readPlace(context.state);
  if (place === undefined) throw new SvcError("CHANNEL_DOWN", "The mailbox is not watched yet.");
  if (upTo !== undefined && upTo <= BigInt(place.historyId)) return;
  const labelIds = await labels.ids(signal);
  const pages = historySince(api, place.historyId, labelIds, signal);
  let newestMs = place.newestMs;
  let page = await pages.next();
  for (; !page.done; page = await pages.next()) {
    newestMs = await take(options, page.value.added, labelIds, newestMs, signal);
    await move(context, place, { historyId: page.value.upTo, newestMs });
  }
  if (page.value) return;
  // First of all: what comes while the list is read is after this.
  const historyId = await options.historyNow(signal);
  const missed = await missedSince(api, place, labelIds, context.clock.now(), signal);
  const notBeforeMs = Math.max(place.newestMs, missed.notBeforeMs);
  newestMs = await take(options, missed.ids, labelIds, newestMs, signal, notBeforeMs);
  await keepPlace(context.state, { historyId, newestMs });
  tellMissed(context.log, missed);
}

/** Hands over in the order of the ids, nothing older than `notBeforeMs`. Resolves with the newest of them and `newestMs`. */
async function take(
  { api, context, inboundOf }: SyncOptions,
  ids: readonly string[],
  labelIds: readonly string[],
  newestMs: number,
  signal: AbortSignal,
  notBeforeMs = 0,
): Promise<number> {
  let newest = newestMs;
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const mails = await Promise.all(
      ids.slice(from, from + AT_ONCE).map((id) => readMail(api, id, context.log, signal)),
    );
    const there = mails.filter((mail) => mail !== undefined && isNew(mail, notBeforeMs)) as Mail[];
    const said = await Promise.all(there.map((mail) => inboundOf(mail, labelIds, signal)));
    await hand(context, said);
    newest = Math.max(newest, ...there.map(({ internalDateMs }) => internalDateMs));
  }
  return newest;
}

const isNew = ({ internalDateMs }: Mail, notBeforeMs: number): boolean =>
  internalDateMs === 0 || internalDateMs >= notBeforeMs;

/** The platform slows down who asks for more. */
const AT_ONCE = 5;

async function hand(
  { receive }: Pick<FeatureContext, "receive">,
  said: readonly (Inbound | undefined)[],
): Promise<void> {
  const messages = said.filter((message) => message !== undefined);
  if (messages.length > 0) await receive(messages);
}

async function move({ state }: Pick<FeatureContext, "state">, before: Place, now: Place): Promise<void> {
  if (now.historyId !== before.historyId || now.newestMs !== before.newestMs) await keepPlace(state, now);
}

function tellMissed(log: Logger, { ids, skipped }: { ids: readonly string[]; skipped: number }): void {
  log.warn("The mailbox's history does not go back as far as it was read; newer mail was listed instead.", {
    found: ids.length,
    skipped,
  });
}

/** `users.history.list`: which mail came since a history id, page by page, oldest first. */
export interface HistoryPage {
  /** Ids of mail that came, each once. */
  readonly added: readonly string[];
  /** Up to where this page goes. */
  readonly upTo: string;
}

const historyAnswer = v.object({
  history: v.optional(
    v.array(
      v.object({
        id: historyIdSchema,
        messagesAdded: v.fallback(v.array(v.object({ message: v.object({ id: v.string() }) })), []),
      }),
    ),
    [],
  ),
  nextPageToken: v.optional(v.string()),
  historyId: v.optional(historyIdSchema),
});

/** The largest that the platform gives. */
const PAGE = "500";

/** Ends without a page where the history is not kept as far back any more. Returns whether all of it was told. */
async function* historySince(
  api: MailApi,
  start: string,
  labelIds: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<HistoryPage, boolean> {
  /** What comes while the pages are read is after the first page's end; it is read the next time. */
  let end: string | undefined;
  let pageToken: string | undefined;
  do {
    const query = {
      startHistoryId: start,
      historyTypes: "messageAdded",
      maxResults: PAGE,
      // The platform takes one label only; with several, all are read and the others left out later.
      labelId: labelIds.length === 1 ? labelIds[0] : undefined,
      pageToken,
    };
    const { status, json } = await api.call({ path: "history", query, answers: [404], maxBytes: MAX_BYTES }, signal);
    if (status === 404) return false;
    const page = v.safeParse(historyAnswer, json);
    if (!page.success) throw new SvcError("REMOTE_UNREACHABLE", "The mailbox's history can't be read.");
    const { history, nextPageToken } = page.output;
    end ??= page.output.historyId ?? history.at(-1)?.id ?? start;
    const added = history.flatMap(({ messagesAdded }) => messagesAdded.map(({ message }) => message.id));
    const upTo = nextPageToken === undefined ? end : (history.at(-1)?.id ?? start);
    yield { added: [...new Set(added)], upTo };
    pageToken = nextPageToken;
  } while (pageToken !== undefined);
  return true;
}

/** 500 records with everything that the platform repeats in them. */
const MAX_BYTES = 8_388_608;

/**
 * What came since the newest mail that was read, where the history is not kept that far back (a week, sometimes hours).
 * Never what is older than that mail: it was answered, or is older than this channel.
 */
export interface Missed {
  /** Oldest first. */
  readonly ids: readonly string[];
  /** Mail that came too long ago to be answered now. */
  readonly skipped: number;
  /** Nothing that came before is to be read. */
  readonly notBeforeMs: number;
}

/** Less than message ids are remembered, so that what was answered is not answered again. */
const LONGEST_MS = 604_800_000;
/** A mailbox with more unread mail than this has other troubles. */
const MAX_PAGES = 40;

async function missedSince(
  api: MailApi,
  { newestMs }: Place,
  labelIds: readonly string[],
  nowMs: number,
  signal: AbortSignal,
): Promise<Missed> {
  const fromMs = Math.max(newestMs, nowMs - LONGEST_MS);
  const ids = await listed(api, `after:${seconds(fromMs)}`, labelIds, signal);
  const tooOld = `after:${seconds(newestMs + 1000)} before:${seconds(fromMs)}`;
  const skipped = fromMs > newestMs ? await listed(api, tooOld, labelIds, signal) : [];
  return { ids: ids.toReversed(), skipped: skipped.length, notBeforeMs: Math.floor(fromMs / 1000) * 1000 };
}

/** The search knows seconds; of the second itself what was read before is known by its id. */
const seconds = (ms: number): string => String(Math.floor(ms / 1000));

const listAnswer = v.object({
  messages: v.optional(v.array(v.object({ id: v.string() })), []),
  nextPageToken: v.optional(v.string()),
});

/** Newest first. With several labels, mail that has any of them: the platform lists only what has all. */
async function listed(api: MailApi, q: string, labelIds: readonly string[], signal: AbortSignal): Promise<string[]> {
  const ids: string[] = [];
  let pageToken: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const query = { q, maxResults: "500", pageToken, ...(labelIds.length === 1 && { labelIds }) };
    const page = v.safeParse(listAnswer, (await api.call({ path: "messages", query }, signal)).json);
    if (!page.success) throw new SvcError("REMOTE_UNREACHABLE", "The mailbox's messages can't be listed.");
    ids.push(...page.output.messages.map(({ id }) => id));
    pageToken = page.output.nextPageToken;
    if (pageToken === undefined) break;
  }
  return ids;
}
