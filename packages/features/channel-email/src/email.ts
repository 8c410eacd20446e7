/** One mailbox: mail comes in by IMAP as soon as it is there, and is answered by SMTP in its thread. */
import { type Channel, type Contributions, type FeatureContext, SvcError } from "@svc/contract";
import { type Account, accountOf, hostOf, imapServer, smtpServer, trustOf } from "./account.ts";
import { createBodyReader } from "./body.ts";
import type { Config } from "./config.ts";
import { createMedia } from "./files.ts";
import { createHeaderReader, headersIn } from "./headers.ts";
import { type Errands, type Session, createErrands, openSession, uidOf } from "./imap.ts";
import { createInbound } from "./inbound.ts";
import { runLoop } from "./run.ts";
import { type SentFolder, createSend, createSentFolder } from "./send.ts";
import { type Smtp, createSmtp } from "./smtp.ts";
import { knownThreadsIn } from "./threads.ts";

/** Mail has no length limit; no reader needs more than this. */
const MAX_TEXT_CHARS = 200_000;

export function create(context: FeatureContext<Config>): Contributions {
  const { config, state, log } = context;
  const account = accountOf(context);
  const errands = createErrands(account);
  const smtp = createSmtp(account);
  const sentFolder = createSentFolder(account, errands);
  const threads = knownThreadsIn(state);
  const inboundOf = createInbound({ account, readBody: createBodyReader(), threads });
  const headers = createHeaderReader(account);
  const send = createSend({ account, smtp, errands, sentFolder, threads });
  const readMarks = createMarks(account, errands);
  let isOver = false;

  return {
    channel: {
      text: { maxChars: MAX_TEXT_CHARS },
      async send(message, signal) {
        if (isOver) throw new SvcError("CHANNEL_DOWN", "The channel is shut down.");
        return send(message, signal);
      },
      media: createMedia(account, errands),
      ...(readMarks !== undefined && { readMarks }),
      check: (signal) => checkAccount(account, { smtp, sentFolder }, signal),
    },
    async register(signal) {
      signal.throwIfAborted();
      await trustOf(config);
      for (const server of [imapServer(config), smtpServer(config)])
        await hostOf(server, account.resolve).catch(asConfig);
      if (!config.require_authenticated && config.approvers.length > 0) {
        log.warn("require_authenticated is off: anyone who writes an approver's address into a mail can approve.");
      }
    },
    run: (signal) => runLoop({ account, context, smtp, headers, inboundOf }, signal),
    async shutdown() {
      isOver = true;
      errands.close();
    },
  };
}

/** An address that may not be reached in the open is the config's to change; one that can't be looked up may be there later. */
function asConfig(error: unknown): void {
  if (!(error instanceof SvcError) || error.code !== "ADDRESS_REFUSED") return;
  throw new SvcError("CONFIG_INVALID", error.message, {
    hint: 'Use tls or starttls, or add the server\'s "host:port" to security.net.allow_private.',
  });
}

// What a person sees of a mail in the mailbox: read once its turn begins, and out of the way once it is answered.

/** Undefined: the config wants neither. */
function createMarks({ config }: Pick<Account, "config">, errands: Errands): Channel["readMarks"] {
  const { mailbox, mark_seen: isSeenWanted, processed_mailbox: processed } = config;
  if (!isSeenWanted && processed === undefined) return undefined;
  const refused = (): SvcError =>
    new SvcError("REMOTE_UNREACHABLE", "The IMAP server refuses to mark or move the mail.");
  return {
    async mark(_conversation, id, signal) {
      if (!isSeenWanted) return;
      await errands.run(
        mailbox,
        async (session) => {
          const uid = await uidOf(session, id, signal);
          const add = () =>
            session.call((client) => client.messageFlagsAdd(String(uid), ["\\Seen"], { uid: true }), signal);
          // Someone may have moved it meanwhile.
          if (uid !== undefined && !(await add())) throw refused();
        },
        signal,
      );
    },
    ...(processed !== undefined && {
      async clear(_conversation, id, signal) {
        await errands.run(
          mailbox,
          async (session) => {
            const uid = await uidOf(session, id, signal);
            const move = () =>
              session.call((client) => client.messageMove(String(uid), processed, { uid: true }), signal);
            if (uid !== undefined && (await move()) === false) throw refused();
          },
          signal,
        );
      },
    }),
  };
}

/** What `svc channels test email` says: both servers, the mailbox, how it tells of new mail, and who checks senders. */
async function checkAccount(
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
