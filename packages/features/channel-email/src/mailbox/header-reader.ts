/** The headers of new mails. None is left out because it was not told of once; one that can't be told of stops no others. */
import { type Logger, SvcError } from "@svc/contract";
import type { FetchMessageObject } from "imapflow";
import { UnreadableAnswer } from "../imap/failure.ts";
import { search } from "../imap/find.ts";
import type { Session } from "../imap/session.ts";
import { headersIn, MAX_HEADER_BYTES } from "../mail/header-block.ts";
import type { NewMail } from "../mail/new-mail.ts";

export interface HeaderReader {
  /** By uid; what somebody moved or deleted meanwhile is missing. Throws as `Session.call`. */
  of(session: Session, uids: readonly number[], signal: AbortSignal): Promise<ReadonlyMap<number, NewMail>>;
}

/** After so many times that the server says there is a mail, and does not show it. */
const MOST_TRIES = 3;

export function createHeaderReader({ log }: { readonly log: Logger }): HeaderReader {
  const tries = new Map<string, number>();

  /** Some servers now and then answer a question with nothing, or with what belongs to the one before. */
  const demandGone = async (session: Session, missing: readonly number[], signal: AbortSignal): Promise<void> => {
    const there = await search(session, { uid: missing.join(",") }, signal);
    for (const uid of there) {
      const key = `${session.uidValidity}:${uid}`;
      const count = (tries.get(key) ?? 0) + 1;
      tries.set(key, count);
      if (count < MOST_TRIES)
        throw new SvcError("REMOTE_UNREACHABLE", "The IMAP server does not show a mail that is there.");
      tries.delete(key);
      log.warn("The IMAP server does not show a mail that is there; it is left out.", { uid });
    }
  };

  return {
    async of(session, uids, signal) {
      const mails = new Map<number, NewMail>();
      for (const mail of await fetched(session, uids, signal)) mails.set(mail.uid, newMailOf(session, mail));
      const missing = uids.filter((uid) => !mails.has(uid));
      if (missing.length > 0) await demandGone(session, missing, signal);
      return mails;
    },
  };
}

/** One by one where an answer can't be read. */
async function fetched(session: Session, uids: readonly number[], signal: AbortSignal): Promise<FetchMessageObject[]> {
  const query = {
    uid: true,
    internalDate: true,
    bodyParts: [{ key: "HEADER", start: 0, maxLength: MAX_HEADER_BYTES }],
  };
  try {
    return await session.call((client) => client.fetchAll(uids.join(","), query, { uid: true }), signal);
  } catch (error) {
    if (!(error instanceof UnreadableAnswer) || session.isClosed) throw error;
    if (uids.length === 1) return [];
    const all: FetchMessageObject[] = [];
    for (const uid of uids) all.push(...(await fetched(session, [uid], signal)));
    return all;
  }
}

function newMailOf(session: Session, mail: FetchMessageObject): NewMail {
  const ms = mail.internalDate === undefined ? Number.NaN : new Date(mail.internalDate).getTime();
  return {
    session,
    uid: mail.uid,
    uidValidity: session.uidValidity,
    headers: headersIn(mail.headers ?? mail.bodyParts?.get("header")),
    cameMs: Number.isNaN(ms) ? undefined : ms,
  };
}
