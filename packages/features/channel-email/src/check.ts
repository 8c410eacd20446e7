/** What `svc channels test email` says: both servers, the mailbox, how it tells of new mail, and who checks senders. */
import { SvcError } from "@svc/contract";
import { type Account, smtpServer } from "./account.ts";
import { headersIn } from "./headers.ts";
import { openSession, type Session } from "./imap.ts";
import type { SentFolder } from "./send.ts";
import type { Smtp } from "./smtp.ts";

export async function checkAccount(
  account: Account,
  { smtp, sentFolder }: { readonly smtp: Pick<Smtp, "check">; readonly sentFolder: Pick<SentFolder, "name"> },
  signal: AbortSignal,
): Promise<string> {
  const { config, address } = account;
  const session = await openSession(account, config.mailbox, signal);
  try {
    const sentTo = await sentFolder.name(session, signal);
    await demandMailboxes(session, [config.processed_mailbox, sentTo], signal);
    const news = session.hasIdle ? "told of new mail at once (IDLE)" : `looked at every ${config.poll_interval_secs} s`;
    const senders = await checkedBy(session, account, signal);
    await smtp.check(signal).catch(asCheckFailure);
    const { host } = smtpServer(config);
    return `${address}: ${config.mailbox} with ${session.exists} mails, ${news}; sends by ${host}; ${senders}`;
  } finally {
    session.close();
  }
}

async function demandMailboxes(
  session: Session,
  names: readonly (string | undefined)[],
  signal: AbortSignal,
): Promise<void> {
  for (const name of names) {
    if (name === undefined) continue;
    const there = await session.call((client) => client.status(name, { messages: true }), signal);
    if (there !== false) continue;
    throw new SvcError("CHANNEL_CANNOT", "A mailbox of processed_mailbox or save_sent is not there.", {
      hint: "Make it in a mail program, and write its name as the server calls it.",
    });
  }
}

/** Of the newest mail: what an operator would otherwise look for in its source. */
async function checkedBy(session: Session, { config }: Account, signal: AbortSignal): Promise<string> {
  if (!config.require_authenticated) return "senders are not checked";
  const { authserv_id: named } = config;
  if (named !== undefined) return `senders are checked by ${named}`;
  if (session.exists === 0) return "senders are checked by the server of the topmost Authentication-Results";
  const query = { uid: true, headers: ["authentication-results"] };
  const newest = await session.call((client) => client.fetchOne("*", query), signal);
  const [first = ""] = headersIn(newest === false ? undefined : newest.headers).all("authentication-results");
  const server = /^\s*([\w.-]{1,100})\s*(?:\d+\s*)?;/.exec(first)?.[1];
  if (server !== undefined) return `the newest mail's sender was checked by ${server} (authserv_id is not set)`;
  return "the newest mail has no Authentication-Results: mail like it is not answered";
}

/** No message was refused here. */
function asCheckFailure(error: unknown): never {
  if (!(error instanceof SvcError) || !error.code.startsWith("DELIVERY_")) throw error;
  const { message, retryAfterMs } = error;
  throw new SvcError("REMOTE_UNREACHABLE", message, {
    hint: "Check smtp_host and smtp_port.",
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}
