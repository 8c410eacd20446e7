/** What is in the mailbox, and its history. */
import type { Json } from "@svc/contract";
import type { ArrivingMail, StoredMail } from "./mail-resource.ts";

export interface Mailbox {
  readonly mails: ReadonlyMap<string, StoredMail>;
  /** Where its history is now: a number with more digits than a float holds. */
  readonly historyId: () => string;
  add(mail: ArrivingMail): StoredMail;
  remove(id: string): void;
  /** Labels to take away. */
  unlabel(id: string, labelIds: readonly string[]): boolean;
  /** The history up to now is not kept any more. */
  forget(): void;
  /** Undefined: it does not go back so far. */
  recordsSince(historyId: bigint): readonly HistoryRecord[] | undefined;
}

export interface HistoryRecord {
  readonly id: bigint;
  readonly kind: "messageAdded" | "messageDeleted" | "labelRemoved";
  readonly mail: Pick<StoredMail, "id" | "threadId" | "labelIds">;
}

/** Beyond 2^53. */
const FIRST_HISTORY_ID = 9_007_199_254_740_993n;

export function createMailbox(): Mailbox {
  const mails = new Map<string, StoredMail>();
  const records: HistoryRecord[] = [];
  let historyId = FIRST_HISTORY_ID;
  let floor = FIRST_HISTORY_ID;
  let nextId = 0x19a0_0000_0000_0000n;

  const record = (kind: HistoryRecord["kind"], mail: HistoryRecord["mail"]): bigint => {
    // Ids go up, and not by one.
    historyId += 7n;
    records.push({ id: historyId, kind, mail });
    return historyId;
  };

  return {
    mails,
    historyId: () => String(historyId),
    add(mail) {
      nextId += 1n;
      const id = nextId.toString(16);
      const labelIds = mail.labelIds ?? ["UNREAD", "CATEGORY_PERSONAL", "INBOX"];
      const threadId = mail.threadId ?? id;
      const at = record("messageAdded", { id, threadId, labelIds });
      const messageId = mail.headers?.["Message-ID"] ?? `<mail-${id}@example.org>`;
      const stored = { ...mail, id, threadId, labelIds, historyId: String(at), messageId };
      mails.set(id, stored);
      return stored;
    },
    remove(id) {
      const mail = mails.get(id);
      if (mail !== undefined) record("messageDeleted", mail);
      mails.delete(id);
    },
    unlabel(id, labelIds) {
      const mail = mails.get(id);
      if (mail === undefined) return false;
      mail.labelIds = mail.labelIds.filter((label) => !labelIds.includes(label));
      record("labelRemoved", mail);
      return true;
    },
    forget() {
      floor = historyId;
    },
    recordsSince: (from) => (from < floor ? undefined : records.filter(({ id }) => id > from)),
  };
}

/** As `users.history.list` shows it. */
export const shownRecord = ({ id, kind, mail }: HistoryRecord): Json => {
  const message = { id: mail.id, threadId: mail.threadId, labelIds: [...mail.labelIds] };
  const shown = { id: String(id), messages: [{ id: mail.id, threadId: mail.threadId }] };
  if (kind === "messageAdded") return { ...shown, messagesAdded: [{ message }] };
  return kind === "messageDeleted"
    ? { ...shown, messagesDeleted: [{ message }] }
    : { ...shown, labelsRemoved: [{ message, labelIds: [] }] };
};
