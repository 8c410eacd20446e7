/** Sends an answer as a mail in the thread, once. */
import { hash } from "node:crypto";
import {
  type Channel,
  type Conversation,
  type Json,
  type OutgoingMessage,
  type Receipt,
  SvcError,
} from "@svc/contract";
import type { PlatformAnswer } from "@svc/kit";
import { compose, mailboxOf, messageIdOf } from "@svc/kit/mail";
import * as v from "valibot";
import type { MailApi } from "../api/mail-api.ts";
import type { OwnAddress } from "../mailbox/profile.ts";
import { keptReply } from "./reply-data.ts";
import { readThread } from "./thread.ts";

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
      // The thread was deleted meanwhile; by its headers the answer is still one.
    }
    return receiptOf((await post(api, mail, {}, files.length > 0, [], signal)).json, message.conversation, to);
  };
}

/** Where no thread tells it: https://support.google.com/mail/answer/7190 */
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
const answer = v.object({ id: WORD, threadId: v.fallback(v.optional(WORD), undefined) });

/** A mail that begins a thread is answered in it, by the address as `inboundOf` writes it. */
function receiptOf(json: Json | undefined, { channel, id, thread }: Conversation, to: string): Receipt {
  const { success, output } = v.safeParse(answer, json);
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
