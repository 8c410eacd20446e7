/** What of a mail goes to the agent: those of people who may write, in conversations of their own. */
import type { FeatureContext, Inbound } from "@svc/contract";
import { isAllowed, senderGate } from "@svc/kit";
import {
  addressOf,
  authenticityOf,
  automaticBy,
  isReply,
  mailboxOf,
  nameOf,
  readable,
  toldOnce,
  withoutQuote,
} from "@svc/kit/mail";
import { attachmentsOf } from "./attachments.ts";
import type { Config } from "./config.ts";
import { bodyText, type Mail } from "./mail.ts";
import type { OwnAddress } from "./mailbox.ts";
import { replyDataOf } from "./reply.ts";

const CHANNEL = "mailpush";
/** The platform's own check, told by its own name: other servers' words may be made up. */
const CHECKED_BY = "mx.google.com";

export type InboundOf = (mail: Mail, labelIds: readonly string[], signal: AbortSignal) => Promise<Inbound | undefined>;

export function inboundReader(
  { config, log }: Pick<FeatureContext<Config>, "config" | "log">,
  address: Pick<OwnAddress, "get">,
): InboundOf {
  const mayWrite = senderGate({ allowed: config.allowed_senders, mode: "email", log, channel: CHANNEL });
  const tellUnproven = toldOnce((sender) =>
    log.warn("A mail's sender is not proven by DMARC, DKIM or SPF of the domain; it is not answered.", { sender }),
  );
  // With `*` a forged sender gains nothing, since anyone may write. An approver's address still needs proof.
  const needsNoProof = (sender: string): boolean =>
    config.allowed_senders.includes("*") && !isAllowed(config.approvers, sender, "email");

  return async (mail, labelIds, signal) => {
    const from = mail.headers.get("from");
    const sender = mailboxOf(addressOf(from));
    const isOwn = mail.labelIds.some((label) => OWN.has(label));
    if (sender === undefined || isOwn || !isWanted(mail.labelIds, labelIds)) return undefined;
    if (sender === (await address.get(signal))?.toLowerCase()) return undefined;
    const automatic = automaticBy(mail.headers, sender);
    if (automatic !== undefined) {
      log.debug("An automatic mail is not answered.", { because: automatic });
      return undefined;
    }
    if (!mayWrite(sender)) return undefined;
    // Mail that never came from outside (within one mailbox, or put there by its owner) was not checked, and is taken.
    if (!needsNoProof(sender) && authenticityOf(mail.headers, sender, CHECKED_BY) === "unproven") {
      tellUnproven(sender);
      return undefined;
    }
    return messageOf(mail, sender, nameOf(from));
  };
}

const OWN = new Set(["SENT", "DRAFT", "CHAT"]);
const NEVER = new Set(["SPAM", "TRASH"]);

const isWanted = (has: readonly string[], wanted: readonly string[]): boolean =>
  wanted.length === 0 ? !has.some((label) => NEVER.has(label)) : wanted.some((label) => has.includes(label));

function messageOf(mail: Mail, sender: string, senderName: string | undefined): Inbound | undefined {
  const { media, placeholders } = attachmentsOf(mail);
  const text = [subjectOf(mail), textOf(mail), ...placeholders].filter((part) => part !== "").join("\n\n");
  if (text === "") return undefined;
  return {
    id: mail.id,
    // In a thread with several people each has a separate conversation: knowing a thread's id must not reveal the answers to
    // someone else.
    conversation: { channel: CHANNEL, id: sender, thread: mail.threadId },
    sender,
    ...(senderName !== undefined && { senderName }),
    text,
    ...(media.length > 0 && { media }),
    ...(mail.internalDateMs > 0 && { sentAtMs: mail.internalDateMs }),
    replyData: replyDataOf(mail),
  };
}

/** Blank for a reply, which repeats the conversation's first subject. */
function subjectOf(mail: Mail): string {
  const subject = readable(mail.headers.get("subject")).replaceAll(/\s+/g, " ").trim();
  return subject === "" || isReply(mail.headers)
    ? ""
    : `Subject: ${subject.slice(0, MAX_SUBJECT_CHARS).toWellFormed()}`;
}

const MAX_SUBJECT_CHARS = 998;

function textOf(mail: Mail): string {
  const text = bodyText(mail);
  return isReply(mail.headers) ? withoutQuote(text) : text;
}
