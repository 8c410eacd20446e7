/**
 * A mail provider: IMAP with push, SMTP for who signs in, one account. As strict as the RFCs where a client may be wrong, and with
 * moods. Test tools for what a real server does are beside it, in `real/`.
 */
import type { PlatformMood } from "../../mood.ts";
import { startImapServer } from "./imap-server.ts";
import { createMailbox, type Mailbox } from "./mailboxes.ts";
import { type MailRequest, recordRequests } from "./mail-mood.ts";
import { type SentByMail, startSmtpServer } from "./smtp-server.ts";

export interface FakeMailOptions {
  readonly address: string;
  readonly password: string;
  /** Without it, a client has to ask again and again. Default: yes. */
  readonly hasIdle?: boolean;
  /** Mailboxes beside INBOX, with their special use. Default: `Sent` with `\Sent`, `Done`. */
  readonly mailboxes?: Readonly<Record<string, string | undefined>>;
  /** The largest mail that is taken. Default: 50 MiB. */
  readonly maxBytes?: number;
}

export interface FakeMail extends AsyncDisposable {
  readonly imapPort: number;
  readonly smtpPort: number;
  mood: PlatformMood | ((request: MailRequest) => PlatformMood);
  readonly requests: readonly MailRequest[];
  arrived(index: number): Promise<MailRequest>;
  readonly sent: readonly SentByMail[];
  /** Rules that mails broke, which SMTP refused for that. */
  readonly broken: readonly string[];
  readonly inbox: Mailbox;
  mailbox(name: string): Mailbox;
  /** Access tokens that are taken. */
  readonly tokens: Set<string>;
  /** Addresses that SMTP refuses. */
  readonly unknown: Set<string>;
  /** Ends every connection of IMAP. */
  disconnect(): void;
  /** `Mailbox.rebuild` of INBOX, which ends the connections too. */
  rebuild(cameMs?: number): void;
  close(): Promise<void>;
}

export async function startFakeMail(options: FakeMailOptions): Promise<FakeMail> {
  const { address, password, hasIdle = true, mailboxes: more = { Sent: "\\Sent", Done: undefined } } = options;
  const recorded = recordRequests();
  const tokens = new Set<string>();
  const unknown = new Set<string>();
  const inbox = createMailbox();
  const mailboxes = new Map([["INBOX", inbox]]);
  for (const [name, use] of Object.entries(more)) mailboxes.set(name, createMailbox(use));
  const mayEnter = (login: { user: string; password?: string; token?: string }): boolean =>
    login.user === address && (login.password === password || (login.token !== undefined && tokens.has(login.token)));
  const words = "IMAP4rev1 SASL-IR AUTH=PLAIN AUTH=XOAUTH2 ID NAMESPACE UIDPLUS MOVE SPECIAL-USE LITERAL+";
  const capabilities = [...words.split(" "), ...(hasIdle ? ["IDLE"] : [])];
  const imap = await startImapServer({ capabilities, mailboxes, mayEnter }, recorded);
  const smtp = await startSmtpServer({ maxBytes: options.maxBytes ?? 52_428_800, mayEnter, unknown }, recorded);
  const close = async (): Promise<void> => {
    await Promise.all([imap.close(), smtp.close()]);
  };
  return Object.assign(recorded, {
    imapPort: imap.port,
    smtpPort: smtp.port,
    sent: smtp.sent,
    broken: smtp.broken,
    inbox,
    mailbox: (name: string) => mailboxes.get(name) ?? inbox,
    tokens,
    unknown,
    disconnect: imap.disconnect,
    rebuild(cameMs?: number) {
      imap.disconnect();
      inbox.rebuild(cameMs);
    },
    close,
    [Symbol.asyncDispose]: close,
  });
}
