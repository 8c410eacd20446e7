/** What comes page by page: the history, and mail that a search finds. */
import type { Json } from "@svc/contract";
import type { PlatformReply } from "../base.ts";
import { ok, refused } from "./errors.ts";
import { type Mailbox, shownRecord } from "./mailbox.ts";

export interface Lists {
  history(query: URLSearchParams): PlatformReply;
  messages(query: URLSearchParams): PlatformReply;
}

/** `pageSize`: at most so many at once, whatever is asked for. */
export function createLists(mailbox: Mailbox, pageSize: number): Lists {
  return {
    history(query) {
      const start = query.get("startHistoryId") ?? "";
      if (!/^\d{1,20}$/.test(start)) return refused(400, "invalidArgument", "startHistoryId");
      const records = mailbox.recordsSince(BigInt(start));
      if (records === undefined) return refused(404, "notFound", "Requested entity was not found.");
      const [types, label] = [query.getAll("historyTypes"), query.get("labelId")];
      const wanted = records
        .filter(({ changes }) => types.length === 0 || Object.keys(changes).some((kind) => types.includes(kind)))
        .filter(({ mail }) => label === null || mail.labelIds.includes(label));
      const page = pageOf(wanted, query, pageSize);
      if (page === undefined) return refused(400, "invalidArgument", "pageToken");
      // Without any record there is no list at all.
      const history = page.items.map((record) => shownRecord(record, types));
      return ok({ ...(history.length > 0 && { history }), ...page.next, historyId: mailbox.historyId() });
    },
    messages(query) {
      const labels = query.getAll("labelIds");
      const q = query.get("q") ?? "";
      const [after, before] = ["after", "before"].map((word) => secondsOf(q, word));
      const messageId = /(?:^| )rfc822msgid:<?([^\s>]+)/.exec(q)?.[1];
      const found = [...mailbox.mails.values()]
        .filter(({ labelIds }) => labels.every((label) => labelIds.includes(label)))
        .filter(({ labelIds }) => labels.length > 0 || !labelIds.some((label) => label === "SPAM" || label === "TRASH"))
        .filter(({ atMs }) => after === undefined || Math.floor(atMs / 1000) >= after)
        .filter(({ atMs }) => before === undefined || Math.floor(atMs / 1000) < before)
        .filter((mail) => messageId === undefined || mail.messageId === `<${messageId}>`)
        .toSorted((one, other) => other.atMs - one.atMs);
      const page = pageOf(found, query, pageSize);
      if (page === undefined) return refused(400, "invalidArgument", "pageToken");
      const messages = page.items.map(({ id, threadId }): Json => ({ id, threadId }));
      return ok({ ...(messages.length > 0 && { messages }), ...page.next, resultSizeEstimate: found.length });
    },
  };
}

const secondsOf = (q: string, word: string): number | undefined => {
  const found = new RegExp(`(?:^| )${word}:(\\d+)`).exec(q)?.[1];
  return found === undefined ? undefined : Number(found);
};

function pageOf<T>(items: readonly T[], query: URLSearchParams, pageSize: number) {
  const wanted = Number(query.get("maxResults") ?? 100);
  const from = Number(query.get("pageToken") ?? 0);
  if (!(wanted >= 1 && wanted <= 500) || !Number.isInteger(from)) return undefined;
  const to = from + Math.min(wanted, pageSize);
  return { items: items.slice(from, to), next: to < items.length ? { nextPageToken: String(to) } : {} };
}
