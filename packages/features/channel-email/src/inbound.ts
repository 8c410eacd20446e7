/** What of a mail goes to the agent, and in which conversation. */
import type { Inbound, Logger } from "@svc/contract";
import { isAllowed, replaceQuoted, senderGate, toldOnce } from "@svc/kit";
import {
  addressOf,
  authenticityOf,
  automaticBy,
  type Headers,
  isReply,
  mailboxOf,
  messageIdsIn,
  nameOf,
  parameterOf,
  readable,
  threadPlaceOf,
  withoutQuote,
  withoutSignature,
} from "@svc/kit/mail";
import type { Account } from "./account.ts";
import { type Body, type BodyReader, createHardMails } from "./body.ts";
import { filesOf } from "./files.ts";
import { idOf } from "./imap.ts";
import { type NewMail, sourceBytes } from "./structure.ts";
import { type KnownThreads, replyDataOf } from "./threads.ts";

export interface InboundDeps {
  readonly account: Account;
  readonly readBody: BodyReader;
  readonly threads: KnownThreads;
}

/** Undefined: nothing. Throws as `Session.call`. */
export type InboundOf = (mail: NewMail, signal: AbortSignal) => Promise<Inbound | undefined>;

export function createInbound({ account, readBody, threads }: InboundDeps): InboundOf {
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
      // In a thread with several people each has a separate conversation: knowing a thread's id must not reveal the answers to
      // someone else.
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

/** The subject is included once, with the first mail of a conversation. */
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

/** Whose mail is answered: a person's who may write here, and who is proven to be that person. */
interface Writer {
  /** Lower case. */
  readonly address: string;
  readonly name: string | undefined;
  /** Where the answer goes, if not there. */
  readonly answerTo: string | undefined;
}

export type Gate = (headers: Headers) => Writer | undefined;

function createGate({ config, log, address: own }: Pick<Account, "config" | "log" | "address">): Gate {
  const { allowed_senders: allowed, require_authenticated: isProofWanted, authserv_id: server } = config;
  const mayWrite = senderGate({ allowed, mode: "email", log, channel: "email" });
  const tellUnproven = toldOnce((sender) =>
    log.warn("A mail's sender is not proven by DMARC, DKIM or SPF of the domain; it is not answered.", { sender }),
  );
  const tellUnchecked = toldOnce((sender) =>
    log.warn("The mail server does not say whether a mail's sender is genuine; it is not answered.", { sender }),
  );
  // `*` lets everyone write, but not choose the recipient of our answers.
  const listed = allowed.filter((entry) => entry.trim() !== "*");

  return (headers) => {
    const [from = "", ...others] = headers.all("from");
    const address = others.length > 0 ? undefined : onlyAddressIn(from);
    if (address === undefined) {
      log.debug("A mail that is not from one address is not answered.");
      return undefined;
    }
    if (address === own) return undefined;
    const automatic = automaticBy(headers, address);
    if (automatic !== undefined) {
      log.debug("An automatic mail is not answered.", { because: automatic });
      return undefined;
    }
    if (!mayWrite(address)) return undefined;
    const proof = isProofWanted ? authenticityOf(headers, address, server) : "proven";
    if (proof !== "proven") {
      (proof === "unproven" ? tellUnproven : tellUnchecked)(address);
      return undefined;
    }
    const replyTo = onlyAddressIn(headers.all("reply-to").join(", "));
    const isOther = replyTo !== undefined && replyTo !== address && replyTo !== own;
    const answerTo = isOther && isAllowed(listed, replyTo, "email") ? replyTo : undefined;
    return { address, name: nameOf(from), answerTo };
  };
}

/**
 * The address of a header that holds one and no more. Of several, one program shows the first and another one checks the last:
 * anyone who writes two is not who he seems.
 */
export function onlyAddressIn(header: string): string | undefined {
  const bare = replaceQuoted(header.slice(0, 2000), "x").replaceAll(/\([^()]*\)/g, " ");
  if (/[,;]/.test(bare) || (bare.match(/</g) ?? []).length > 1) return undefined;
  return mailboxOf(addressOf(header));
}

/** For a person, and for the log. */
const subjectOf = (headers: Headers): string =>
  readable(headers.get("subject"))
    .replaceAll(/[\p{Cc}\s]+/gu, " ")
    .trim()
    .slice(0, MAX_SUBJECT_CHARS)
    .toWellFormed();

const MAX_SUBJECT_CHARS = 998;

/**
 * Two programs that answer each other do so for ever, and not all of them say that they are programs: a thread that runs faster
 * than people write is cut, and stays so until it is quiet.
 */
export interface ArrivedMail {
  readonly id: string;
  readonly sender: string;
  readonly thread: string;
  readonly cameMs: number;
}

/** Whether it is one too many. The same mail again is judged as it was. */
export type LoopCut = (mail: ArrivedMail) => boolean;

const HOUR_MS = 3_600_000;
/** A program that knows no threads begins a new one each time. People write in several at once, so there may be more. */
const SENDER_FACTOR = 5;
const MAX_KEYS = 2000;

interface Seen {
  readonly cameMs: number;
  readonly isCut: boolean;
}

/** `perHour`: in one thread; 0: no limit. */
export function createLoopCut(perHour: number): LoopCut {
  const seen = new Map<string, Map<string, Seen>>();

  const isTooMany = (key: string, limit: number, { id, cameMs }: ArrivedMail): boolean => {
    const mails = seen.get(key) ?? new Map<string, Seen>();
    const known = mails.get(id);
    if (known !== undefined) return known.isCut;
    for (const [other, mail] of mails) if (Math.abs(cameMs - mail.cameMs) >= HOUR_MS) mails.delete(other);
    const isCut = mails.size >= limit;
    mails.set(id, { cameMs, isCut });
    // What was heard of last stays longest; of what runs wild, no more is kept than says so.
    if (mails.size > limit * 2) mails.delete(mails.keys().next().value as string);
    seen.delete(key);
    seen.set(key, mails);
    if (seen.size > MAX_KEYS) seen.delete(seen.keys().next().value as string);
    return isCut;
  };

  return (mail) => {
    if (perHour === 0) return false;
    const isInThread = isTooMany(JSON.stringify([mail.sender, mail.thread]), perHour, mail);
    return isTooMany(mail.sender, perHour * SENDER_FACTOR, mail) || isInThread;
  };
}

// A bounce of one of our mails (RFC 3464). It is logged, because mail has no other delivery updates.

/** Throws as `Session.call`. */
export type BounceReader = (mail: NewMail, signal: AbortSignal) => Promise<void>;

/** Some send the whole mail back. */
const MAX_BYTES = 131_072;

function createBounceReader({ log, address }: Pick<Account, "log" | "address">): BounceReader {
  const hard = createHardMails();
  const domain = address.slice(address.lastIndexOf("@") + 1);
  const tell = toldOnce((what) => {
    const [mail = "", status] = what.split(" ");
    log.warn("A mail of ours did not arrive.", { mail, status });
  });
  return async (mail, signal) => {
    const type = mail.headers.get("content-type");
    const isReport =
      /^\s*multipart\/report\b/i.test(type) && parameterOf(type, "report-type")?.toLowerCase() === "delivery-status";
    if (!isReport) return;
    const source = await hard.read(mail, [() => sourceBytes(mail.session, mail.uid, MAX_BYTES, signal)]);
    const text = source?.toString("latin1") ?? "";
    const status = /^Status:\s*(5\.\d{1,3}\.\d{1,3})\b/im.exec(text)?.[1];
    if (status === undefined) return;
    // The header of the report itself has one, too.
    const sent = [...text.matchAll(/^Message-ID:\s*(<[^>\r\n]{1,250}>)/gim)].flatMap(([, id = ""]) => messageIdsIn(id));
    const ours = sent.find((id) => OURS.exec(id)?.[1]?.toLowerCase() === domain);
    if (ours !== undefined) tell(`${ours} ${status}`);
  };
}

/** As answers have them. */
const OURS = /^<[0-9a-f]{32}@([^>]+)>$/;
