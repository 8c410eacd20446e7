/** Mails by what stays the same wherever they are moved: the Message-ID. */
import { SvcError } from "@svc/contract";
import type { Session } from "./session.ts";

/** A mail is known by its Message-ID; one without by its place, which names no other mail ever. */
export const idOf = (messageId: string | undefined, uidValidity: string, uid: number): string =>
  messageId ?? `${uidValidity}:${uid}`;

/** Undefined: no mail in this mailbox has this id. */
export async function uidOf(session: Session, id: string, signal: AbortSignal): Promise<number | undefined> {
  const [, uidValidity, uid] = /^(\d{1,20}):(\d{1,10})$/.exec(id) ?? [];
  if (uid !== undefined) return uidValidity === session.uidValidity ? Number(uid) : undefined;
  if (!/^<[!-;=?-~]{1,250}>$/.test(id)) return undefined;
  return (await search(session, { header: { "message-id": id } }, signal)).at(-1);
}

type Query = Parameters<Parameters<Parameters<Session["call"]>[0]>[0]["search"]>[0];

/** Uids, lowest first. */
export async function search(session: Session, query: Query, signal: AbortSignal): Promise<number[]> {
  const found = await session.call((client) => client.search(query, { uid: true }), signal);
  if (Array.isArray(found)) return found.toSorted((a, b) => a - b);
  throw new SvcError("REMOTE_UNREACHABLE", "The IMAP server refuses to look for mail.");
}
