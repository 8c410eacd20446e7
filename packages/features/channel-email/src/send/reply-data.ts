/** What is kept with a mail so that its answer lands in its thread, in every mail program. */
import type { Json } from "@svc/contract";
import { type Headers, mailboxOf, messageIdsIn, type ThreadPlace, threadPlaceOf } from "@svc/kit/mail";
import * as v from "valibot";

export interface Answered extends ThreadPlace {
  /** Where the answer goes, if not to who wrote. */
  readonly to: string | undefined;
}

const kept = v.object({
  messageId: v.optional(v.string()),
  references: v.array(v.string()),
  subject: v.string(),
  to: v.optional(v.string()),
});

export function replyDataOf(headers: Headers, to: string | undefined): Json {
  const { messageId, references, subject } = threadPlaceOf(headers);
  return {
    ...(messageId !== undefined && { messageId }),
    references: [...references],
    subject,
    ...(to !== undefined && { to }),
  };
}

/** Undefined for the data of another kind. */
export function keptReply(data: Json | undefined): Answered | undefined {
  const parsed = v.safeParse(kept, data);
  if (!parsed.success) return undefined;
  const { messageId = "", references, subject, to } = parsed.output;
  return {
    // Looked at once more: they become headers, and this comes from the disk.
    messageId: messageIdsIn(messageId)[0],
    references: messageIdsIn(references.join(" ")),
    subject,
    to: to === undefined ? undefined : mailboxOf(to),
  };
}
