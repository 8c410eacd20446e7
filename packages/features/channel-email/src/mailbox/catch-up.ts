/**
 * What came while the mailbox was made anew (UIDVALIDITY changed: a restore, a move to another server): no uid from before means
 * anything then, and all mail may seem to have come just now. Never what was answered, nor what is older than this channel.
 */
import { search } from "../imap/find.ts";
import type { Session } from "../imap/session.ts";
import { headersIn } from "../mail/header-block.ts";
import type { Place } from "./place.ts";

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

export async function missedIn(session: Session, place: Place, nowMs: number, signal: AbortSignal): Promise<Missed> {
  // The search knows days, of a time zone of the server's.
  const since = new Date(Math.min(place.newestMs, nowMs) - DAY_MS);
  const found = await search(session, { since }, signal);
  const uids: number[] = [];
  let skipped = 0;
  for (let from = 0; from < found.length; from += AT_ONCE) {
    const range = found.slice(from, from + AT_ONCE).join(",");
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

const AT_ONCE = 500;

function timeOf(date: Date | string | undefined): number | undefined {
  const ms = date === undefined ? Number.NaN : new Date(date).getTime();
  return Number.isNaN(ms) ? undefined : ms;
}
