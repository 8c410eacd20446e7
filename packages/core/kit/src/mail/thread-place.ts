/** What an answer must say so that it lands in the thread of the mail it answers, in every mail program. RFC 5322, 3.6.4. */
import { type Headers, readable } from "./headers.ts";

export interface ThreadPlace {
  /** Message-ID of the mail, with the angle brackets; undefined: it has none. */
  readonly messageId: string | undefined;
  /** The Message-IDs of the thread so far, oldest first. */
  readonly references: readonly string[];
  readonly subject: string;
}

export function threadPlaceOf(headers: Headers): ThreadPlace {
  const before = messageIdsIn(headers.get("references"));
  return {
    messageId: messageIdsIn(headers.get("message-id"))[0],
    references: before.length > 0 ? before : messageIdsIn(headers.get("in-reply-to")),
    subject: readable(headers.get("subject")).replaceAll(/\s+/g, " ").trim().slice(0, MAX_SUBJECT_CHARS).toWellFormed(),
  };
}

const MAX_SUBJECT_CHARS = 500;

/** Drops everything that is no id, because ids go into outgoing headers. Some ids have no @. */
export const messageIdsIn = (header: string): string[] =>
  limited(header.slice(0, 20_000).match(/<[!-;=?-~]{1,250}>/g) ?? []);

/** The first one is the thread's root, the last ones are what mail programs look for. */
function limited(ids: readonly string[]): string[] {
  return ids.length <= MAX_IDS ? [...ids] : [...ids.slice(0, 1), ...ids.slice(1 - MAX_IDS)];
}

const MAX_IDS = 20;

/** An answer to a mail of the thread; a forwarded mail begins something new. */
export const isReply = (headers: Headers): boolean =>
  headers.get("in-reply-to").trim() !== "" && !/^\s*(?:fwd?|wg|tr|rv|enc|i):/i.test(headers.get("subject"));
