/** Reads what is new in the mailbox and hands it over; only then the place moves on. */
import { type FeatureContext, type Inbound, type Logger, SvcError } from "@svc/contract";
import { Semaphore } from "@svc/kit";
import type { MailApi } from "../api/mail-api.ts";
import { missedSince } from "./catch-up.ts";
import { historySince } from "./history.ts";
import type { Labels } from "./labels.ts";
import { type Mail, readMail } from "../mail/mail.ts";
import { keepPlace, type Place, readPlace } from "./place.ts";

export interface SyncOptions {
  readonly api: MailApi;
  readonly labels: Labels;
  /** Where the history is. */
  readonly historyNow: (signal: AbortSignal) => Promise<string>;
  readonly context: Pick<FeatureContext, "state" | "receive" | "clock" | "log">;
  /** What a mail says to the agent; undefined: nothing, because of who wrote it or what it is. */
  readonly inboundOf: (mail: Mail, labelIds: readonly string[], signal: AbortSignal) => Promise<Inbound | undefined>;
}

export interface Sync {
  /** One after the other, whoever asks. `upTo`: nothing is done when the mailbox was read as far as that. */
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
