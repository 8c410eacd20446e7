/** What of a mail goes to the agent, and in which conversation. */
import type { Inbound, Logger } from "@svc/contract";
import { isReply, messageIdsIn, threadPlaceOf, withoutQuote, withoutSignature } from "@svc/kit/mail";
import type { Account } from "../account/account.ts";
import { idOf } from "../imap/find.ts";
import type { KnownThreads } from "../send/known-threads.ts";
import { replyDataOf } from "../send/reply-data.ts";
import type { Body, BodyReader } from "./body.ts";
import { createBounceReader } from "./bounce.ts";
import { filesOf } from "./files.ts";
import { createGate, subjectOf, type Writer } from "./gate.ts";
import { createLoopCut } from "./loops.ts";
import type { NewMail } from "./new-mail.ts";

export interface InboundParts {
  readonly account: Account;
  readonly readBody: BodyReader;
  readonly threads: KnownThreads;
}

/** Undefined: nothing. Throws as `Session.call`. */
export type InboundOf = (mail: NewMail, signal: AbortSignal) => Promise<Inbound | undefined>;

export function createInbound({ account, readBody, threads }: InboundParts): InboundOf {
  const { config, log, clock } = account;
  const writerOf = createGate(account);
  const isLoop = createLoopCut(config.max_answers_per_hour);
  const readBounce = createBounceReader(account);

  return async (mail, signal) => {
    const { headers } = mail;
    await readBounce(mail, signal);
    const writer = writerOf(headers);
    if (writer === undefined) return undefined;
    const { messageId, references } = threadPlaceOf(headers);
    const id = idOf(messageId, mail.uidValidity, mail.uid);
    const thread = await threads.rootOf(references[0] ?? id);
    const body = await readBody(mail, signal);
    const { media, placeholders } = filesOf(mail, messageId, body.files);
    const parts = [...said(mail, body), ...body.notes, ...placeholders];
    const text = parts.filter((part) => part !== "").join("\n\n");
    if (text === "") return undefined;
    const [answered = ""] = messageIdsIn(headers.get("in-reply-to"));
    const cut = isLoop({ id, sender: writer.address, thread, cameMs: mail.cameMs ?? clock.now() });
    if (cut) tellLoop(log, writer);
    return {
      // Kept, so that it can be looked at, and not answered.
      ...(cut && { kind: "reaction" as const }),
      id,
      // Of a thread with several people each has a conversation: whoever gets hold of a thread's id must not read there what
      // somebody else was answered.
      conversation: { channel: "email", id: writer.address, thread },
      sender: writer.address,
      ...(writer.name !== undefined && { senderName: writer.name }),
      text,
      // Of another's mail it says nothing: in a thread with several people every mail answers one.
      ...((await threads.has(answered)) && { repliesTo: answered }),
      ...(media.length > 0 && { media }),
      ...(mail.cameMs !== undefined && mail.cameMs > 0 && { sentAtMs: mail.cameMs }),
      replyData: replyDataOf(headers, writer.answerTo),
    };
  };
}

/** The subject is told once, of the mail that a conversation begins with. */
function said({ headers }: NewMail, { text }: Body): string[] {
  if (isReply(headers)) return [withoutQuote(text)];
  const subject = subjectOf(headers);
  const isForwarded = /^\s*(?:fwd?|wg|tr|rv|enc|i):/i.test(subject);
  const body = isForwarded ? text.trim() : withoutSignature(text);
  // A command is one as a whole, wherever its writer put it.
  if (COMMAND.test(body)) return [body];
  if (body === "" && COMMAND.test(subject)) return [subject];
  return [subject === "" ? "" : `Subject: ${subject}`, body];
}

const COMMAND = /^\/[a-z]{2,20}(?: [^\n]{1,200})?$/;

const tellLoop = (log: Logger, { address: sender }: Writer): void =>
  log.warn("More mails came in a thread within an hour than people write; it is kept, and not answered.", { sender });
