import type { Session } from "../imap/session.ts";

/** The beginning of a part, as it is transferred; nothing, when the mail is gone. Throws as `Session.call`. */
export async function partBytes(
  session: Session,
  uid: number,
  id: string,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Buffer> {
  const query = { uid: true, bodyParts: [{ key: id, start: 0, maxLength: maxBytes }] };
  const mail = await session.call((client) => client.fetchOne(String(uid), query, { uid: true }), signal);
  const bytes = mail === false ? undefined : mail.bodyParts?.get(id.toLowerCase());
  // Some servers send all of it, whatever they are asked for.
  return (bytes ?? Buffer.alloc(0)).subarray(0, maxBytes);
}

/** The beginning of the mail as it is. */
export async function sourceBytes(
  session: Session,
  uid: number,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Buffer> {
  const query = { uid: true, source: { start: 0, maxLength: maxBytes } };
  const mail = await session.call((client) => client.fetchOne(String(uid), query, { uid: true }), signal);
  return ((mail === false ? undefined : mail.source) ?? Buffer.alloc(0)).subarray(0, maxBytes);
}
