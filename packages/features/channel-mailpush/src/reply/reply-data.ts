/** What is kept with a mail so that its answer lands in its thread: at the platform, and in every mail program. */
import type { Json } from "@svc/contract";
import * as v from "valibot";
import { readable } from "../mail/headers.ts";
import type { Mail } from "../mail/mail.ts";

export interface ReplyTo {
  /** Its Message-ID, with the angle brackets; undefined: it has none. */
  readonly messageId: string | undefined;
  /** The Message-IDs of the thread so far, oldest first. */
  readonly references: readonly string[];
  readonly subject: string;
  readonly threadId: string;
}

const kept = v.object({
  messageId: v.optional(v.string()),
  references: v.array(v.string()),
  subject: v.string(),
  threadId: v.string(),
});

export function replyDataOf(mail: Pick<Mail, "headers" | "threadId">): Json {
  const { messageId, references, subject, threadId } = replyToOf(mail);
  return { ...(messageId !== undefined && { messageId }), references: [...references], subject, threadId };
}

/** Undefined for the data of another kind. */
export function keptReply(data: Json | undefined): ReplyTo | undefined {
  const parsed = v.safeParse(kept, data);
  return parsed.success ? { ...parsed.output, messageId: parsed.output.messageId } : undefined;
}

export function replyToOf({ headers, threadId }: Pick<Mail, "headers" | "threadId">): ReplyTo {
  const before = idsOf(headers.get("references"));
  return {
    messageId: idsOf(headers.get("message-id"))[0],
    references: before.length > 0 ? before : idsOf(headers.get("in-reply-to")),
    subject: readable(headers.get("subject")).replaceAll(/\s+/g, " ").trim().slice(0, MAX_SUBJECT_CHARS).toWellFormed(),
    threadId,
  };
}

const MAX_SUBJECT_CHARS = 500;

/** Whatever is no id is left out: it would become a part of a header that we write. Some have no @ in them. */
const idsOf = (header: string): string[] => limited(header.slice(0, 20_000).match(/<[!-;=?-~]{1,250}>/g) ?? []);

/** The first one is the thread's root, the last ones are what mail programs look for. */
function limited(ids: readonly string[]): string[] {
  return ids.length <= MAX_IDS ? [...ids] : [...ids.slice(0, 1), ...ids.slice(1 - MAX_IDS)];
}

const MAX_IDS = 20;
