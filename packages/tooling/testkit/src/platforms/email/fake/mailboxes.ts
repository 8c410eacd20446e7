/** What is in a fake mailbox, and who listens. */

export interface StoredMail {
  readonly uid: number;
  /** CRLF line breaks, as they came. */
  readonly raw: Buffer;
  readonly flags: Set<string>;
  readonly cameMs: number;
}

export interface Mailbox {
  uidValidity: number;
  uidNext: number;
  mails: StoredMail[];
  readonly specialUse: string | undefined;
  /** Called when mail came or went. */
  readonly listeners: Set<() => void>;
  add(raw: Buffer | string, flags?: readonly string[], cameMs?: number): StoredMail;
  remove(uid: number): void;
  /** As after a restore: the same mails under other numbers. `cameMs`: when all of them seem to have come. */
  rebuild(cameMs?: number): void;
}

export function createMailbox(specialUse?: string): Mailbox {
  const mailbox: Mailbox = {
    uidValidity: 1_000,
    uidNext: 1,
    mails: [],
    specialUse,
    listeners: new Set(),
    add(raw, flags = [], cameMs = Date.now()) {
      const uid = mailbox.uidNext;
      const mail = {
        uid,
        raw: Buffer.from(raw as string),
        flags: new Set(flags),
        cameMs: Math.floor(cameMs / 1000) * 1000,
      };
      mailbox.uidNext += 1;
      mailbox.mails.push(mail);
      for (const tell of mailbox.listeners) tell();
      return mail;
    },
    remove(uid) {
      mailbox.mails = mailbox.mails.filter((mail) => mail.uid !== uid);
      for (const tell of mailbox.listeners) tell();
    },
    rebuild(cameMs) {
      const old = mailbox.mails;
      mailbox.uidValidity += 1;
      mailbox.mails = [];
      mailbox.uidNext = 1;
      for (const mail of old) mailbox.add(mail.raw, [...mail.flags], cameMs ?? mail.cameMs);
    },
  };
  return mailbox;
}
