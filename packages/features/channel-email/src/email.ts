/** One mailbox: reads new mail by IMAP as it arrives, and answers by SMTP in its thread. */
import {
  type Channel,
  type Contributions,
  type FeatureContext,
  type Inbound,
  type StateStore,
  SvcError,
} from "@svc/contract";
import { type Account, accountOf, hostOf, imapServer, smtpServer, trustOf } from "./account.ts";
import { createBodyReader } from "./body.ts";
import type { Config } from "./config.ts";
import { createMedia } from "./files.ts";
import { type HeaderReader, createHeaderReader, headersIn } from "./headers.ts";
import { type Errands, type Session, createErrands, openSession, search, uidOf } from "./imap.ts";
import { type InboundOf, createInbound } from "./inbound.ts";
import { type SentFolder, createSend, createSentFolder } from "./send.ts";
import { type Smtp, createSmtp } from "./smtp.ts";
import { knownThreadsIn } from "./threads.ts";
import { asFinal, parseJson } from "@svc/kit";
import * as v from "valibot";
import type { NewMail } from "./structure.ts";

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

/** The result of `svc channels test email`: both servers, the mailbox, how it reports new mail, and which server checks senders. */
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

/** Reads the newest mail, so that the operator need not search its source. */
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

// The channel's loop: reads new mail, then waits for more.

interface Loop {
  readonly account: Account;
  readonly context: Pick<FeatureContext, "state" | "receive" | "clock" | "log">;
  readonly smtp: Pick<Smtp, "check">;
  readonly headers: HeaderReader;
  readonly inboundOf: InboundOf;
}

/** Throws REMOTE_* when the connection is lost, to be called again; FEATURE_FAILED when the credentials are refused. */
async function runLoop({ account, context, smtp, headers, inboundOf }: Loop, signal: AbortSignal): Promise<void> {
  const { config, log, address } = account;
  signal.throwIfAborted();
  try {
    const session = await openSession(account, config.mailbox, signal);
    try {
      await checkSmtp(smtp, context, signal);
      log.info("the platform knows this channel", { account: address, push: session.hasIdle });
      for (;;) {
        await sync({ context, of: `${address} ${config.mailbox}`, headers, inboundOf }, session, signal);
        await session.news(signal);
      }
    } finally {
      session.close();
    }
  } catch (error) {
    if (signal.aborted) return;
    throw asFinal(error);
  }
}

/** A refused SMTP password fails at once; an unreachable SMTP server does not stop reading. */
async function checkSmtp(smtp: Loop["smtp"], { log }: Loop["context"], signal: AbortSignal): Promise<void> {
  try {
    await smtp.check(signal);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof SvcError) || error.code === "CHANNEL_UNAUTHORIZED") throw error;
    log.warn("The SMTP server can't be asked now; mail is read all the same.", { reason: error.code });
  }
}

/** Reads new mail and hands it over; the position moves only after that. */
interface SyncDeps {
  readonly context: Pick<FeatureContext, "state" | "receive" | "clock" | "log">;
  /** Names the mailbox, so that a place in another one is not taken for one here. */
  readonly of: string;
  readonly headers: HeaderReader;
  /** The message for the agent; undefined for an ignored sender or kind of mail. */
  readonly inboundOf: (mail: NewMail, signal: AbortSignal) => Promise<Inbound | undefined>;
}

/** Throws as `Session.call`, and what `receive` and the store do: then nothing is lost, and the next time goes on there. */
async function sync(deps: SyncDeps, session: Session, signal: AbortSignal): Promise<void> {
  const { context, of } = deps;
  const { state, clock, log } = context;
  const place = await readPlace(state, of);
  const { uidValidity, uidNext } = session;
  if (place === undefined) {
    // No one expects an answer to old mail.
    const nowMs = clock.now();
    return keepPlace(state, { of, uidValidity, uid: uidNext - 1, newestMs: nowMs, beganMs: nowMs });
  }
  if (place.uidValidity === uidValidity) {
    const found = await search(session, { uid: `${place.uid + 1}:*` }, signal);
    // "*" is the newest mail, however old it is.
    return read(
      deps,
      session,
      place,
      found.filter((uid) => uid > place.uid),
      signal,
    );
  }
  const { uids, skipped } = await missedIn(session, place, clock.now(), signal);
  log.warn("The mailbox was made anew; mail that came since the newest one that was read is looked for by its date.", {
    found: uids.length,
    skipped,
  });
  await read(deps, session, undefined, uids, signal);
  await keepPlace(state, { ...place, uidValidity, uid: uidNext - 1 });
}

/** Number of headers per request. */
const AT_ONCE = 20;

/** `place`: moves on with each mail; undefined: the caller moves it at the end. */
async function read(
  { context, inboundOf, headers }: SyncDeps,
  session: Session,
  place: Place | undefined,
  uids: readonly number[],
  signal: AbortSignal,
): Promise<void> {
  let newestMs = place?.newestMs ?? 0;
  for (let from = 0; from < uids.length; from += AT_ONCE) {
    const some = uids.slice(from, from + AT_ONCE);
    const mails = await headers.of(session, some, signal);
    for (const uid of some) {
      const mail = mails.get(uid);
      const inbound = mail && (await inboundOf(mail, signal));
      if (inbound !== undefined) await context.receive([inbound]);
      if (place === undefined) continue;
      newestMs = Math.max(newestMs, mail?.cameMs ?? 0);
      await keepPlace(context.state, { ...place, uid, newestMs });
    }
  }
}

/**
 * What came while the mailbox was made anew (UIDVALIDITY changed: a restore, a move to another server): no uid from before means
 * anything then, and all mail may seem to have come just now. Never what was answered, nor what is older than this channel.
 */
interface Missed {
  /** Lowest first. */
  readonly uids: readonly number[];
  /** Mail that came too long ago to be answered now. */
  readonly skipped: number;
}

/** Less than message ids are remembered, so that what was answered is known by its id. */
const LONGEST_MS = 604_800_000;
const DAY_MS = 86_400_000;
/** Clocks of mail programs are not set by ours. */
const SKEW_MS = 300_000;

async function missedIn(session: Session, place: Place, nowMs: number, signal: AbortSignal): Promise<Missed> {
  // The search knows days, of a time zone of the server's.
  const since = new Date(Math.min(place.newestMs, nowMs) - DAY_MS);
  const found = await search(session, { since }, signal);
  const uids: number[] = [];
  let skipped = 0;
  for (let from = 0; from < found.length; from += IDS_AT_ONCE) {
    const range = found.slice(from, from + IDS_AT_ONCE).join(",");
    const query = { uid: true, internalDate: true, headers: ["date"] };
    const mails = await session.call((client) => client.fetchAll(range, query, { uid: true }), signal);
    for (const { uid, internalDate, headers } of mails) {
      const cameMs = timeOf(internalDate) ?? nowMs;
      const writtenMs = timeOf(headersIn(headers).get("date")) ?? cameMs;
      const isNew = cameMs >= place.newestMs && writtenMs >= place.beganMs - SKEW_MS;
      // A mailbox that was copied says of every mail that it came today; when it was written is older than the newest one then.
      if (!isNew || writtenMs < place.newestMs - LONGEST_MS) continue;
      if (Math.max(cameMs, writtenMs) < nowMs - LONGEST_MS) skipped += 1;
      else uids.push(uid);
    }
  }
  return { uids: uids.toSorted((a, b) => a - b), skipped };
}

const IDS_AT_ONCE = 500;

function timeOf(date: Date | string | undefined): number | undefined {
  const ms = date === undefined ? Number.NaN : new Date(date).getTime();
  return Number.isNaN(ms) ? undefined : ms;
}

/** How far the mailbox has been read; kept over restarts. */
interface Place {
  /** Which mailbox it is a place in. */
  readonly of: string;
  readonly uidValidity: string;
  /** Everything up to this uid was read. */
  readonly uid: number;
  /** When the newest mail that was read came, as the server says; at first, when reading began. Milliseconds since the epoch. */
  readonly newestMs: number;
  /** When reading began: what was written before is never answered. */
  readonly beganMs: number;
}

const KEY = "place";
const place = v.object({
  of: v.string(),
  uidValidity: v.string(),
  uid: v.pipe(v.number(), v.safeInteger()),
  newestMs: v.number(),
  beganMs: v.number(),
});

/** Undefined before the first look at this mailbox: a place in another one means nothing here. */
async function readPlace(state: StateStore, of: string): Promise<Place | undefined> {
  const text = await state.get(KEY);
  const parsed = v.safeParse(place, text === undefined ? undefined : parseJson(Buffer.from(text)));
  return parsed.success && parsed.output.of === of ? parsed.output : undefined;
}

const keepPlace = (state: StateStore, place: Place): Promise<void> => state.set(KEY, JSON.stringify(place));
