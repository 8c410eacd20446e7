/** The headers of new mails. None is left out because it was not told of once; one that can't be told of stops no others. */
import { type Logger, SvcError } from "@svc/contract";
import { type HeaderField, type Headers, headersFrom } from "@svc/kit/mail";
import type { FetchMessageObject } from "imapflow";
import { isUtf8 } from "node:buffer";
import { createHardMails, type HardMails } from "./body.ts";
import { search, type Session } from "./imap.ts";
import type { NewMail } from "./structure.ts";

export interface HeaderReader {
  /** By uid; what someone moved or deleted meanwhile is missing. Throws as `Session.call`. */
  of(session: Session, uids: readonly number[], signal: AbortSignal): Promise<ReadonlyMap<number, NewMail>>;
}

/** After so many times that the server says there is a mail, and does not show it. */
const MOST_TRIES = 3;
const MOST_KNOWN = 1000;

export function createHeaderReader({ log }: { readonly log: Logger }): HeaderReader {
  const hard = createHardMails();
  const tries = new Map<string, number>();
  const leaveOut = (uid: number): void =>
    log.warn("The IMAP server does not show a mail that is there; it is left out.", { uid });

  /** Some servers now and then answer a question with nothing, or with what belongs to the one before. */
  const demandGone = async (session: Session, missing: readonly number[], signal: AbortSignal): Promise<void> => {
    for (const uid of await search(session, { uid: missing.join(",") }, signal)) {
      const key = `${session.uidValidity}:${uid}`;
      const count = (tries.get(key) ?? 0) + 1;
      if (count >= MOST_TRIES) tries.delete(key);
      else tries.set(key, count);
      if (tries.size > MOST_KNOWN) tries.delete(tries.keys().next().value as string);
      if (count < MOST_TRIES)
        throw new SvcError("REMOTE_UNREACHABLE", "The IMAP server does not show a mail that is there.");
      leaveOut(uid);
    }
  };

  return {
    async of(session, uids, signal) {
      const mails = new Map<number, NewMail>();
      const unreadable = new Set<number>();
      for (const one of await fetched(hard, session, uids, signal)) {
        if (typeof one === "number") unreadable.add(one);
        else mails.set(one.uid, newMailOf(session, one));
      }
      unreadable.forEach(leaveOut);
      const missing = uids.filter((uid) => !mails.has(uid) && !unreadable.has(uid));
      if (missing.length > 0) await demandGone(session, missing, signal);
      return mails;
    },
  };
}

/** An unreadable mail yields only its uid. If the batch can't be read, the mails are fetched one by one. */
async function fetched(
  hard: HardMails,
  session: Session,
  uids: readonly number[],
  signal: AbortSignal,
): Promise<readonly (FetchMessageObject | number)[]> {
  const query = {
    uid: true,
    internalDate: true,
    bodyParts: [{ key: "HEADER", start: 0, maxLength: MAX_HEADER_BYTES }],
  };
  const { uidValidity } = session;
  const some = (list: readonly number[]) => () =>
    session.call((client) => client.fetchAll(list.join(","), query, { uid: true }), signal);
  // The first of them stands for all: what comes in meanwhile is behind it.
  const batch = { session, uidValidity: `from ${uidValidity}`, uid: uids[0] ?? 0 };
  const together = await hard.read(batch, [some(uids)]);
  if (together !== undefined) return together;
  const all: (FetchMessageObject | number)[] = [];
  for (const uid of uids) all.push(...((await hard.read({ session, uidValidity, uid }, [some([uid])])) ?? [uid]));
  return all;
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

// The header of a mail as the server has it: bytes that anyone may have written. RFC 5322, 2.2.

/** Bytes to fetch of a header: more than any genuine one has. */
const MAX_HEADER_BYTES = 262_144;

export const headersIn = (block: Buffer | undefined): Headers => headersFrom(fieldsIn(block ?? Buffer.alloc(0)));

/** A line that is no field, and what follows it until the next one, is left out. */
function* fieldsIn(block: Buffer): Generator<HeaderField> {
  const bytes = block.subarray(0, MAX_HEADER_BYTES);
  // RFC 6532 allows UTF-8; what else is not ASCII was never allowed, and is read as it was mostly meant.
  const text = bytes.toString(isUtf8(bytes) ? "utf8" : "latin1");
  let name: string | undefined;
  let value = "";
  for (const line of text.split(/\r\n|\n|\r/)) {
    if (/^[ \t]/.test(line)) {
      value += ` ${line.trim()}`;
      continue;
    }
    if (name !== undefined) yield [name, value.trim()];
    if (line === "") return;
    const field = /^([!-9;-~]{1,200})[ \t]*:(.*)$/s.exec(line);
    name = field?.[1];
    value = field?.[2] ?? "";
  }
  if (name !== undefined) yield [name, value.trim()];
}
