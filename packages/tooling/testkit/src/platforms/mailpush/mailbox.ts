/** What is in the mailbox, and its history. */
import type { Json } from "@svc/contract";
import type { ArrivingMail, StoredMail } from "./mail-resource.ts";

export interface Mailbox {
  readonly mails: ReadonlyMap<string, StoredMail>;
  /** Where its history is now: a number with more digits than a float holds. */
  readonly historyId: () => string;
  add(mail: ArrivingMail): StoredMail;
  remove(id: string): void;
  /** What it is then; undefined: it is not there. */
  relabel(
    id: string,
    labels: { readonly add: readonly string[]; readonly remove: readonly string[] },
  ): StoredMail | undefined;
  /** The history up to now is not kept any more. */
  forget(): void;
  /** Undefined: it does not go back so far. */
  recordsSince(historyId: bigint): readonly HistoryRecord[] | undefined;
}

export interface HistoryRecord {
  readonly id: bigint;
  readonly mail: Pick<StoredMail, "id" | "threadId" | "labelIds">;
  /** What happened, and of labels which. */
  readonly changes: Changes;
}

type Changes = Readonly<Partial<Record<ChangeKind, readonly string[]>>>;
type ChangeKind = "messageAdded" | "messageDeleted" | "labelAdded" | "labelRemoved";

/** Beyond 2^53. */
const FIRST_HISTORY_ID = 9_007_199_254_740_993n;

export function createMailbox(): Mailbox {
  const mails = new Map<string, StoredMail>();
  const records: HistoryRecord[] = [];
  let historyId = FIRST_HISTORY_ID;
  let floor = FIRST_HISTORY_ID;
  let nextId = 0x19a0_0000_0000_0000n;

  const record = (mail: HistoryRecord["mail"], changes: Changes): string => {
    // Ids go up, and not by one.
    historyId += 7n;
    records.push({ id: historyId, mail, changes });
    return String(historyId);
  };

  return {
    mails,
    historyId: () => String(historyId),
    add(mail) {
      nextId += 1n;
      const id = nextId.toString(16);
      const labelIds = mail.labelIds ?? ["UNREAD", "CATEGORY_PERSONAL", "INBOX"];
      const threadId = mail.threadId ?? id;
      const at = record({ id, threadId, labelIds }, { messageAdded: [] });
      const messageId = mail.headers?.["Message-ID"] ?? `<mail-${id}@example.org>`;
      const stored = { ...mail, id, threadId, labelIds, historyId: at, messageId };
      mails.set(id, stored);
      return stored;
    },
    remove(id) {
      const mail = mails.get(id);
      if (mail !== undefined) record(mail, { messageDeleted: [] });
      mails.delete(id);
    },
    relabel(id, { add, remove }) {
      const mail = mails.get(id);
      if (mail === undefined) return undefined;
      const added = add.filter((label) => !mail.labelIds.includes(label));
      const removed = remove.filter((label) => mail.labelIds.includes(label));
      mail.labelIds = [...mail.labelIds.filter((label) => !removed.includes(label)), ...added];
      const changes = {
        ...(added.length > 0 && { labelAdded: added }),
        ...(removed.length > 0 && { labelRemoved: removed }),
      };
      if (added.length + removed.length > 0) mail.historyId = record(mail, changes);
      return mail;
    },
    forget() {
      floor = historyId;
    },
    recordsSince: (from) => (from < floor ? undefined : records.filter(({ id }) => id > from)),
  };
}

/** As `users.history.list` shows it. `kinds`: those that were asked for. */
export function shownRecord({ id, mail, changes }: HistoryRecord, kinds: readonly string[]): Json {
  const message = { id: mail.id, threadId: mail.threadId, labelIds: [...mail.labelIds] };
  const shown = (Object.keys(SHOWN_AS) as ChangeKind[])
    .filter((kind) => changes[kind] !== undefined && (kinds.length === 0 || kinds.includes(kind)))
    .map((kind) => [SHOWN_AS[kind], [{ message, ...labelsOf(changes[kind] ?? []) }]] as const);
  return { id: String(id), messages: [{ id: mail.id, threadId: mail.threadId }], ...Object.fromEntries(shown) };
}

const labelsOf = (labelIds: readonly string[]) => (labelIds.length > 0 ? { labelIds: [...labelIds] } : {});

const SHOWN_AS = {
  messageAdded: "messagesAdded",
  messageDeleted: "messagesDeleted",
  labelAdded: "labelsAdded",
  labelRemoved: "labelsRemoved",
} as const;
