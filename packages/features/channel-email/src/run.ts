/** The channel's loop: reads new mail, then waits for more. */
import { type FeatureContext, type Inbound, type StateStore, SvcError } from "@svc/contract";
import { asFinal, parseJson } from "@svc/kit";
import * as v from "valibot";
import type { Account } from "./account.ts";
import { type HeaderReader, headersIn } from "./headers.ts";
import { openSession, search, type Session } from "./imap.ts";
import type { InboundOf } from "./inbound.ts";
import type { Smtp } from "./smtp.ts";
import type { NewMail } from "./structure.ts";

export interface Loop {
  readonly account: Account;
  readonly context: Pick<FeatureContext, "state" | "receive" | "clock" | "log">;
  readonly smtp: Pick<Smtp, "check">;
  readonly headers: HeaderReader;
  readonly inboundOf: InboundOf;
}

/** Throws REMOTE_* when the connection is lost, to be called again; FEATURE_FAILED when the credentials are refused. */
export async function runLoop(
  { account, context, smtp, headers, inboundOf }: Loop,
  signal: AbortSignal,
): Promise<void> {
  const { config, log, address } = account;
  signal.throwIfAborted();
  try {
    const session = await openSession(account, config.mailbox, signal);
    try {
      await checkSmtp(smtp, context, signal);
      log.info("the platform knows this channel", { account: address, push: session.hasIdle });
      for (;;) {
        await sync({ context, of: `${address} ${config.mailbox}`, headers, inboundOf }, session, signal);
        await session.news(signal);
      }
    } finally {
      session.close();
    }
  } catch (error) {
    if (signal.aborted) return;
    throw asFinal(error);
  }
}

/** A refused SMTP password fails at once; an unreachable SMTP server does not stop reading. */
async function checkSmtp(smtp: Loop["smtp"], { log }: Loop["context"], signal: AbortSignal): Promise<void> {
  try {
    await smtp.check(signal);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof SvcError) || error.code === "CHANNEL_UNAUTHORIZED") throw error;
    log.warn("The SMTP server can't be asked now; mail is read all the same.", { reason: error.code });
  }
}

/** Reads new mail and hands it over; the position moves only after that. */
export interface SyncDeps {
  readonly context: Pick<FeatureContext, "state" | "receive" | "clock" | "log">;
  /** Names the mailbox, so that a place in another one is not taken for one here. */
  readonly of: string;
  readonly headers: HeaderReader;
  /** The message for the agent; undefined for an ignored sender or kind of mail. */
  readonly inboundOf: (mail: NewMail, signal: AbortSignal) => Promise<Inbound | undefined>;
}

/** Throws as `Session.call`, and what `receive` and the store do: then nothing is lost, and the next time goes on there. */
async function sync(parts: SyncDeps, session: Session, signal: AbortSignal): Promise<void> {
  const { context, of } = parts;
  const { state, clock, log } = context;
  const place = await readPlace(state, of);
  const { uidValidity, uidNext } = session;
  if (place === undefined) {
    // No one expects an answer to old mail.
    const nowMs = clock.now();
    return keepPlace(state, { of, uidValidity, uid: uidNext - 1, newestMs: nowMs, beganMs: nowMs });
  }
  if (place.uidValidity === uidValidity) {
    const found = await search(session, { uid: `${place.uid + 1}:*` }, signal);
    // "*" is the newest mail, however old it is.
    return read(
      parts,
      session,
      place,
      found.filter((uid) => uid > place.uid),
      signal,
    );
  }
  const { uids, skipped } = await missedIn(session, place, clock.now(), signal);
  log.warn("The mailbox was made anew; mail that came since the newest one that was read is looked for by its date.", {
    found: uids.length,
    skipped,
  });
  await read(parts, session, undefined, uids, signal);
  await keepPlace(state, { ...place, uidValidity, uid: uidNext - 1 });
}

/** Number of headers per request. */
const AT_ONCE = 20;

/** `place`: moves on with each mail; undefined: the caller moves it at the end. */
async function read(
  { context, inboundOf, headers }: SyncDeps,
  session: Session,
  place: Place | undefined,
  uids: readonly number[],
  signal: AbortSignal,
): Promise<void> {
  let newestMs = place?.newestMs ?? 0;
  for (let from = 0; from < uids.length; from += AT_ONCE) {
    const some = uids.slice(from, from + AT_ONCE);
    const mails = await headers.of(session, some, signal);
    for (const uid of some) {
      const mail = mails.get(uid);
      const inbound = mail && (await inboundOf(mail, signal));
      if (inbound !== undefined) await context.receive([inbound]);
      if (place === undefined) continue;
      newestMs = Math.max(newestMs, mail?.cameMs ?? 0);
      await keepPlace(context.state, { ...place, uid, newestMs });
    }
  }
}

/**
 * What came while the mailbox was made anew (UIDVALIDITY changed: a restore, a move to another server): no uid from before means
 * anything then, and all mail may seem to have come just now. Never what was answered, nor what is older than this channel.
 */
export interface Missed {
  /** Lowest first. */
  readonly uids: readonly number[];
  /** Mail that came too long ago to be answered now. */
  readonly skipped: number;
}

/** Less than message ids are remembered, so that what was answered is known by its id. */
const LONGEST_MS = 604_800_000;
const DAY_MS = 86_400_000;
/** Clocks of mail programs are not set by ours. */
const SKEW_MS = 300_000;

async function missedIn(session: Session, place: Place, nowMs: number, signal: AbortSignal): Promise<Missed> {
  // The search knows days, of a time zone of the server's.
  const since = new Date(Math.min(place.newestMs, nowMs) - DAY_MS);
  const found = await search(session, { since }, signal);
  const uids: number[] = [];
  let skipped = 0;
  for (let from = 0; from < found.length; from += IDS_AT_ONCE) {
    const range = found.slice(from, from + IDS_AT_ONCE).join(",");
    const query = { uid: true, internalDate: true, headers: ["date"] };
    const mails = await session.call((client) => client.fetchAll(range, query, { uid: true }), signal);
    for (const { uid, internalDate, headers } of mails) {
      const cameMs = timeOf(internalDate) ?? nowMs;
      const writtenMs = timeOf(headersIn(headers).get("date")) ?? cameMs;
      const isNew = cameMs >= place.newestMs && writtenMs >= place.beganMs - SKEW_MS;
      // A mailbox that was copied says of every mail that it came today; when it was written is older than the newest one then.
      if (!isNew || writtenMs < place.newestMs - LONGEST_MS) continue;
      if (Math.max(cameMs, writtenMs) < nowMs - LONGEST_MS) skipped += 1;
      else uids.push(uid);
    }
  }
  return { uids: uids.toSorted((a, b) => a - b), skipped };
}

const IDS_AT_ONCE = 500;

function timeOf(date: Date | string | undefined): number | undefined {
  const ms = date === undefined ? Number.NaN : new Date(date).getTime();
  return Number.isNaN(ms) ? undefined : ms;
}

/** How far the mailbox has been read; kept over restarts. */
interface Place {
  /** Which mailbox it is a place in. */
  readonly of: string;
  readonly uidValidity: string;
  /** Everything up to this uid was read. */
  readonly uid: number;
  /** When the newest mail that was read came, as the server says; at first, when reading began. Milliseconds since the epoch. */
  readonly newestMs: number;
  /** When reading began: what was written before is never answered. */
  readonly beganMs: number;
}

const KEY = "place";
const place = v.object({
  of: v.string(),
  uidValidity: v.string(),
  uid: v.pipe(v.number(), v.safeInteger()),
  newestMs: v.number(),
  beganMs: v.number(),
});

/** Undefined before the first look at this mailbox: a place in another one means nothing here. */
async function readPlace(state: StateStore, of: string): Promise<Place | undefined> {
  const text = await state.get(KEY);
  const parsed = v.safeParse(place, text === undefined ? undefined : parseJson(Buffer.from(text)));
  return parsed.success && parsed.output.of === of ? parsed.output : undefined;
}

const keepPlace = (state: StateStore, place: Place): Promise<void> => state.set(KEY, JSON.stringify(place));
