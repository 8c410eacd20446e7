/** A report that a mail of ours did not arrive (RFC 3464). It is told to the log: nobody asks a mailbox for such updates. */
import { messageIdsIn, parameterOf, toldOnce } from "@svc/kit/mail";
import type { Account } from "../account/account.ts";
import { createHardMails } from "./hard-mails.ts";
import type { NewMail } from "./new-mail.ts";
import { sourceBytes } from "./part-bytes.ts";

/** Throws as `Session.call`. */
export type BounceReader = (mail: NewMail, signal: AbortSignal) => Promise<void>;

/** Some send the whole mail back. */
const MAX_BYTES = 131_072;

export function createBounceReader({ log, address }: Pick<Account, "log" | "address">): BounceReader {
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
