/** Sends a mail: an answer in its thread, or the first one of a new thread. */
import { hash } from "node:crypto";
import { domainToASCII } from "node:url";
import { type Channel, type Conversation, type OutgoingMessage, type Receipt, SvcError } from "@svc/contract";
import { compose, mailboxOf, messageIdOf, subjectFor, type ThreadPlace } from "@svc/kit/mail";
import type { Account } from "../account/account.ts";
import type { Errands } from "../imap/errands.ts";
import { htmlOf } from "./html.ts";
import type { KnownThreads } from "./known-threads.ts";
import { keptReply } from "./reply-data.ts";
import type { SentFolder } from "./sent-folder.ts";
import type { Smtp } from "./smtp.ts";
import { newestIn } from "./thread-lookup.ts";

export interface SendParts {
  readonly account: Account;
  readonly smtp: Smtp;
  readonly errands: Errands;
  readonly sentFolder: SentFolder;
  readonly threads: KnownThreads;
}

export function createSend({ account, smtp, errands, sentFolder, threads }: SendParts): Channel["send"] {
  const { config, clock } = account;
  const from = asciiDomain(config.address);

  return async (message, signal) => {
    signal.throwIfAborted();
    const { conversation, text, deliveryId, replyData } = message;
    const kept = keptReply(replyData);
    const to = kept?.to ?? recipientOf(conversation);
    // The same for every try: whoever gets it twice has a program that shows it once.
    const key = hash("sha256", deliveryId).slice(0, KEY_CHARS);
    const messageId = `<${messageIdOf(key, from)}>`;
    if (await sentFolder.has(messageId, signal)) return receiptOf(messageId, to, conversation);
    const answers = kept ?? (await placeIn(conversation, text, signal));
    const [files, html] = await Promise.all([readFiles(message), htmlOf(text)]);
    const mail = await compose({
      from,
      fromName: config.display_name,
      to,
      text,
      html,
      answers,
      key,
      atMs: clock.now(),
      files,
    });
    const sent = await smtp.send({ to, mail }, signal);
    const known = sent.messageId ?? messageId;
    if (conversation.thread !== undefined) await threads.add(known, conversation.thread).catch(() => undefined);
    await sentFolder.keep(mail, signal);
    return receiptOf(known, to, conversation);
  };

  async function placeIn(
    { thread }: Conversation,
    text: string,
    signal: AbortSignal,
  ): Promise<ThreadPlace | undefined> {
    if (thread === undefined) return undefined;
    const place = await newestIn(thread, account, errands, signal);
    return place && (place.subject === "" ? { ...place, subject: subjectFor(text) } : place);
  }
}

/** Enough for nobody to hit another one, and short enough for a Message-ID to stay on one line. */
const KEY_CHARS = 32;

/** A mail that begins a thread is answered there; so is one that somebody else gets. */
function receiptOf(messageId: string, to: string, { channel, id, thread }: Conversation): Receipt {
  if (thread !== undefined && to === id) return { platformId: messageId };
  return { platformId: messageId, opened: { channel, id: to, thread: thread ?? messageId } };
}

function recipientOf({ id }: Conversation): string {
  const address = mailboxOf(id);
  if (address !== undefined) return address;
  throw new SvcError("DELIVERY_REFUSED", "A conversation's id is one mail address.");
}

const readFiles = ({ files = [] }: OutgoingMessage) =>
  Promise.all(files.map(async ({ name, mimeType, read }) => ({ name, mimeType, bytes: await read() })));

/** A Message-ID is ASCII (RFC 5322, 3.6.4), whatever a domain is written in. */
function asciiDomain(address: string): string {
  const at = address.lastIndexOf("@");
  return `${address.slice(0, at)}@${domainToASCII(address.slice(at + 1)) || "svc.invalid"}`;
}
