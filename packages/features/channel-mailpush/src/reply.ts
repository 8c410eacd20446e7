/** Sends an answer as a mail in the thread, once. */
import {
  type Channel,
  type Conversation,
  type Json,
  type OutgoingMessage,
  type Receipt,
  SvcError,
} from "@svc/contract";
import { pathPart, type PlatformAnswer } from "@svc/kit";
import {
  compose,
  type Headers,
  KEY_HEADER,
  mailboxOf,
  messageIdOf,
  type ThreadPlace,
  threadPlaceOf,
} from "@svc/kit/mail";
import { hash } from "node:crypto";
import * as v from "valibot";
import type { MailApi } from "./api.ts";
import { headersOf, type Mail } from "./mail.ts";
import type { OwnAddress } from "./mailbox.ts";

export function sender(api: MailApi, address: Pick<OwnAddress, "get">): Channel["send"] {
  return async (message, signal) => {
    signal.throwIfAborted();
    const to = recipientOf(message);
    const { thread: threadId } = message.conversation;
    const key = hash("sha256", message.deliveryId);
    // The platform takes no key by which it would know a mail that it sent already; the thread has one, or the mailbox.
    const thread = threadId === undefined ? undefined : await readThread(api, threadId, signal);
    const already = thread?.sentAs(key);
    if (already !== undefined) return { platformId: already };
    const from = await address.get(signal);
    const sent = thread ? undefined : await findSent(api, messageIdOf(key, from), signal);
    if (sent !== undefined) return receiptOf(sent, message.conversation, to);
    const answers = keptReply(message.replyData) ?? thread?.newest;
    const files = await readFiles(message);
    const mail = await compose({ from, to, text: message.text, answers, key, files });
    if (threadId !== undefined) {
      const { status, json } = await post(api, mail, { threadId }, files.length > 0, [404], signal);
      if (status !== 404) return receiptOf(json, message.conversation, to);
      // The thread was deleted meanwhile; by its headers the sendAnswer is still one.
    }
    return receiptOf((await post(api, mail, {}, files.length > 0, [], signal)).json, message.conversation, to);
  };
}

/** Where no thread tells it: https://support.google.com/mail/sendAnswer/7190 */
async function findSent(api: MailApi, messageId: string, signal: AbortSignal): Promise<Json | undefined> {
  const query = { q: `rfc822msgid:${messageId}`, maxResults: "1" };
  const { json } = await api.call({ path: "messages", query }, signal);
  const found = v.safeParse(v.object({ messages: v.array(v.unknown()) }), json);
  return found.success ? (found.output.messages[0] as Json | undefined) : undefined;
}

function recipientOf({ conversation }: OutgoingMessage): string {
  const address = mailboxOf(conversation.id);
  if (address !== undefined) return address;
  throw new SvcError("DELIVERY_REFUSED", "A conversation's id is one mail address.");
}

const readFiles = ({ files = [] }: OutgoingMessage) =>
  Promise.all(files.map(async ({ name, mimeType, read }) => ({ name, mimeType, bytes: await read() })));

const WORD = v.pipe(v.string(), v.nonEmpty());
const sendAnswer = v.object({ id: WORD, threadId: v.fallback(v.optional(WORD), undefined) });

/** A mail that begins a thread is answered in it, by the address as `inboundOf` writes it. */
function receiptOf(json: Json | undefined, { channel, id, thread }: Conversation, to: string): Receipt {
  const { success, output } = v.safeParse(sendAnswer, json);
  if (!success) return {};
  const { id: platformId, threadId } = output;
  if (threadId === undefined || (threadId === thread && to === id)) return { platformId };
  return { platformId, opened: { channel, id: to, thread: threadId } };
}

function post(
  api: MailApi,
  mail: Buffer,
  where: { readonly threadId?: string },
  isLarge: boolean,
  answers: readonly number[],
  signal: AbortSignal,
): Promise<PlatformAnswer> {
  const content = isLarge
    ? { query: { uploadType: "multipart" }, upload: upload(mail, where) }
    : { json: { raw: mail.toString("base64url"), ...where } };
  return api.call({ path: "messages/send", method: "POST", answers, ...content }, signal);
}

/** The mail beside its thread, as it is; inside of JSON the platform takes a few megabytes only. */
function upload(mail: Buffer, where: { readonly threadId?: string }) {
  const boundary = `svc-${hash("sha256", mail)}`;
  const part = (type: string, content: string | Buffer) => [
    `--${boundary}\r\nContent-Type: ${type}\r\n\r\n`,
    content,
    "\r\n",
  ];
  const pieces = [...part("application/json; charset=UTF-8", JSON.stringify(where)), ...part("message/rfc822", mail)];
  const body = Buffer.concat([...pieces.map((piece) => Buffer.from(piece)), Buffer.from(`--${boundary}--\r\n`)]);
  return { contentType: `multipart/related; boundary=${boundary}`, body };
}

/** What is in a thread already. */
export interface Thread {
  /** Id of the mail that was sent under this key; undefined: none was. */
  sentAs(key: string): string | undefined;
  /** The newest mail of someone else. */
  readonly newest: ReplyTo | undefined;
}

const threadAnswer = v.object({
  messages: v.fallback(
    v.array(v.object({ id: v.string(), labelIds: v.fallback(v.array(v.string()), []), payload: v.unknown() })),
    [],
  ),
});

const HEADERS = ["Message-ID", "References", "In-Reply-To", "Subject", KEY_HEADER];
/** A hundred mails of a few headers each. */
const MAX_BYTES = 4_194_304;

/** Undefined for a thread that is not there. */
async function readThread(api: MailApi, threadId: string, signal: AbortSignal): Promise<Thread | undefined> {
  const { status, json } = await api.call(
    {
      path: `threads/${pathPart(threadId)}`,
      query: { format: "metadata", metadataHeaders: HEADERS },
      answers: [404],
      maxBytes: MAX_BYTES,
    },
    signal,
  );
  const parsed = v.safeParse(threadAnswer, json);
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

/** What is kept with a mail so that its answer lands in its thread: at the platform, and in every mail program. */
interface ReplyTo extends ThreadPlace {
  readonly threadId: string;
}

const storedReply = v.object({
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
  const parsed = v.safeParse(storedReply, data);
  return parsed.success ? { ...parsed.output, messageId: parsed.output.messageId } : undefined;
}

export const replyToOf = ({ headers, threadId }: Pick<Mail, "headers" | "threadId">): ReplyTo => ({
  ...threadPlaceOf(headers),
  threadId,
});
