/** Whose mail is answered: a person's who may write here, and who is proven to be that person. */
import { isAllowed, replaceQuoted, senderGate } from "@svc/kit";
import {
  addressOf,
  authenticityOf,
  automaticBy,
  type Headers,
  mailboxOf,
  nameOf,
  readable,
  toldOnce,
} from "@svc/kit/mail";
import type { Account } from "../account/account.ts";

export interface Writer {
  /** Lower case. */
  readonly address: string;
  readonly name: string | undefined;
  /** Where the answer goes, if not there. */
  readonly answerTo: string | undefined;
}

export type Gate = (headers: Headers) => Writer | undefined;

export function createGate({ config, log, address: own }: Pick<Account, "config" | "log" | "address">): Gate {
  const { allowed_senders: allowed, require_authenticated: isProofWanted, authserv_id: server } = config;
  const mayWrite = senderGate({ allowed, mode: "email", log, channel: "email" });
  const tellUnproven = toldOnce((sender) =>
    log.warn("A mail's sender is not proven by DMARC, DKIM or SPF of the domain; it is not answered.", { sender }),
  );
  const tellUnchecked = toldOnce((sender) =>
    log.warn("The mail server does not say whether a mail's sender is genuine; it is not answered.", { sender }),
  );
  // Where everybody may write, that says nothing of whom they may send us to.
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
 * whoever writes two is not who he seems.
 */
export function onlyAddressIn(header: string): string | undefined {
  const bare = replaceQuoted(header.slice(0, 2000), "x").replaceAll(/\([^()]*\)/g, " ");
  if (/[,;]/.test(bare) || (bare.match(/</g) ?? []).length > 1) return undefined;
  return mailboxOf(addressOf(header));
}

/** For a person, and for the log. */
export const subjectOf = (headers: Headers): string =>
  readable(headers.get("subject"))
    .replaceAll(/[\p{Cc}\s]+/gu, " ")
    .trim()
    .slice(0, MAX_SUBJECT_CHARS)
    .toWellFormed();

const MAX_SUBJECT_CHARS = 998;
