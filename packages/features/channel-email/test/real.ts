/** A real mail provider for a whole test file, and people who look into its mailboxes with another client. */
import { type FetchMessageObject, ImapFlow } from "imapflow";
import { rawMail, type RawMail } from "@svc/testkit/platforms/email/fake/raw-mail";
import {
  type MailServers,
  type MailServersOptions,
  missingMailServers,
  startMailServers,
} from "@svc/testkit/platforms/email/real/mail-servers";
import { requireReal } from "@svc/testkit/require-real";
import type { TestContext } from "vitest";
import { eventually, OWN, PASSWORD, PERSON } from "./open.ts";

const PEOPLE_PASSWORD = "password-of-a-person";
/** No one has this mailbox, although SMTP takes mail for it. */
export const LOST = "lost@example.org";

/** The provider says of mail whose envelope is from example.org that it is from there, and of none else. */
const prepends = [
  { sender: /@example\.org$/, header: "Authentication-Results: mx.example.com; spf=pass smtp.mailfrom=example.org" },
  { sender: /./, header: "Authentication-Results: mx.example.com; spf=fail" },
];

/** Skips the test where the servers are not installed. */
export function demandServers(context: Pick<TestContext, "skip">): void {
  const missing = missingMailServers();
  if (missing !== undefined) requireReal(context, missing);
}

export const startServers = (options: Partial<MailServersOptions> = {}): Promise<MailServers> =>
  startMailServers({
    users: { [OWN]: PASSWORD, [PERSON]: PEOPLE_PASSWORD, "mallory@evil.test": PEOPLE_PASSWORD },
    lost: [LOST],
    prepends,
    ...options,
  });

export const sectionOf = ({ dovecot, postfix }: MailServers) => ({
  imap_port: dovecot.imapPort,
  smtp_port: postfix.smtpPort,
});

/** A person sends a mail from outside. */
export async function write(
  servers: MailServers,
  mail: Omit<RawMail, "from"> & { readonly from?: string },
): Promise<void> {
  const { from = PERSON } = mail;
  const envelope = /[^<\s]+@[^>\s]+/.exec(from)?.[0] ?? from;
  await servers.deliver(rawMail({ ...mail, from }), { from: envelope, to: mail.to ?? OWN });
}

/** What is in someone's mailbox, newest last. */
export async function mailsOf(
  { dovecot }: MailServers,
  user: string,
  mailbox = "INBOX",
): Promise<(FetchMessageObject & { readonly text: string })[]> {
  const auth = { user, pass: user === OWN ? PASSWORD : PEOPLE_PASSWORD };
  const client = new ImapFlow({ host: "127.0.0.1", port: dovecot.imapPort, doSTARTTLS: false, auth, logger: false });
  client.on("error", () => undefined);
  await client.connect();
  try {
    await client.mailboxOpen(mailbox, { readOnly: true });
    const query = { uid: true, flags: true, source: true, bodyStructure: true };
    const mails = client.mailbox !== false && client.mailbox.exists > 0 ? await client.fetchAll("1:*", query) : [];
    return mails.map((mail) => ({ ...mail, text: mail.source?.toString("utf8") ?? "" }));
  } finally {
    await client.logout();
  }
}

/** Resolves with the mail that says this, once it is there. */
export async function arrived(servers: MailServers, user: string, text: string, mailbox?: string) {
  let mail: Awaited<ReturnType<typeof mailsOf>>[number] | undefined;
  const isThere = async () => {
    mail = (await mailsOf(servers, user, mailbox)).find((one) => one.text.includes(text));
    return mail !== undefined;
  };
  await eventually(isThere);
  return mail!;
}
