/** What is in a thread already. */
import { pathPart } from "@svc/kit";
import { type Headers, KEY_HEADER } from "@svc/kit/mail";
import * as v from "valibot";
import type { MailApi } from "../api/mail-api.ts";
import { headersOf } from "../mail/headers.ts";
import { type ReplyTo, replyToOf } from "./reply-data.ts";

export interface Thread {
  /** Id of the mail that was sent under this key; undefined: none was. */
  sentAs(key: string): string | undefined;
  /** The newest mail of somebody else. */
  readonly newest: ReplyTo | undefined;
}

const answer = v.object({
  messages: v.fallback(
    v.array(v.object({ id: v.string(), labelIds: v.fallback(v.array(v.string()), []), payload: v.unknown() })),
    [],
  ),
});

const HEADERS = ["Message-ID", "References", "In-Reply-To", "Subject", KEY_HEADER];
/** A hundred mails of a few headers each. */
const MAX_BYTES = 4_194_304;

/** Undefined for a thread that is not there. */
export async function readThread(api: MailApi, threadId: string, signal: AbortSignal): Promise<Thread | undefined> {
  const { status, json } = await api.call(
    {
      path: `threads/${pathPart(threadId)}`,
      query: { format: "metadata", metadataHeaders: HEADERS },
      answers: [404],
      maxBytes: MAX_BYTES,
    },
    signal,
  );
  const parsed = v.safeParse(answer, json);
  if (status === 404 || !parsed.success) return undefined;
  const mails = parsed.output.messages.map((mail) => ({ ...mail, headers: headersOf(mail.payload), threadId }));
  const theirs = mails.findLast(({ labelIds }) => !labelIds.includes("SENT") && !labelIds.includes("DRAFT"));
  return {
    sentAs: (key) => mails.find(({ headers }) => isSentAs(headers, key))?.id,
    newest: theirs && replyToOf(theirs),
  };
}

/** Either may be changed on its way: a platform may write Message-IDs of its own, or drop headers that it does not know. */
const isSentAs = (headers: Headers, key: string): boolean =>
  headers.get(KEY_HEADER) === key || headers.get("message-id").startsWith(`<${key}@`);
