/** What is kept with a mail so that its answer lands in its thread: at the platform, and in every mail program. */
import type { Json } from "@svc/contract";
import { type ThreadPlace, threadPlaceOf } from "@svc/kit/mail";
import * as v from "valibot";
import type { Mail } from "../mail/mail.ts";

export interface ReplyTo extends ThreadPlace {
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

export const replyToOf = ({ headers, threadId }: Pick<Mail, "headers" | "threadId">): ReplyTo => ({
  ...threadPlaceOf(headers),
  threadId,
});
