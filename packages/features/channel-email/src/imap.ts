/** One mailbox, opened over an IMAP connection of its own. */
import { type ErrorCode, SvcError } from "@svc/contract";
import { unlessAborted } from "@svc/kit";
import type { ImapFlow } from "imapflow";
import { type Account, hostOf, imapServer, type Login, trustOf, within } from "./account.ts";

export interface Session {
  /** Uids mean something only beside it. */
  readonly uidValidity: string;
  /** The next mail's uid, as the server said when the mailbox was opened, or later. */
  readonly uidNext: number;
  /** How many mails there are. */
  readonly exists: number;
  readonly isClosed: boolean;
  /** Whether the server tells of new mail by itself. */
  readonly hasIdle: boolean;
  /**
   * Throws REMOTE_* (after REMOTE_TIMEOUT it is closed), CHANNEL_CANNOT, UnreadableAnswer. A call that is aborted goes on by
   * itself; it does not close the session.
   */
  call<T>(work: (client: ImapFlow) => Promise<T>, signal: AbortSignal): Promise<T>;
  /** Until there may be new mail. Throws as `call`: a server that is silent is found out, too. */
  news(signal: AbortSignal): Promise<void>;
  close(): void;
}

/** Longer than any server needs for one of these requests. */
const ANSWER_MS = 60_000;
/**
 * Interval after which IDLE is restarted, which also checks the connection. The protocol allows 29 minutes (RFC 2177); routers
 * on the way silently drop idle connections earlier.
 */
const IDLE_MS = 300_000;
/** A server that ends IDLE sooner does not mean it. */
const SHORT_MS = 2_000;

/** Throws as `connect`, and CHANNEL_CANNOT where there is no such mailbox. */
export async function openSession(account: Account, mailbox: string, signal: AbortSignal): Promise<Session> {
  const { clock, config } = account;
  const client = await connect(account, signal);
  const lost = Promise.withResolvers<never>();
  lost.promise.catch(() => undefined);
  let isLost = false;
  const lose = (why: SvcError): void => {
    isLost = true;
    lost.reject(why);
  };
  // Comes before the end of the connection, and says why.
  client.once("error", (error) => lose(imapFailure(error)));
  client.once("close", () => lose(new SvcError("REMOTE_UNREACHABLE", "The connection to the IMAP server was lost.")));
  /** Something came that no one has looked at. */
  let isDue = false;
  let wake = (): void => undefined;
  client.on("exists", () => {
    isDue = true;
    wake();
  });
  let canIdle = client.capabilities.has("IDLE");

  const call = async <T>(work: (client: ImapFlow) => Promise<T>, signal: AbortSignal): Promise<T> => {
    signal.throwIfAborted();
    try {
      return await within(clock, ANSWER_MS, signal, Promise.race([work(client), lost.promise]));
    } catch (error) {
      signal.throwIfAborted();
      const failure = imapFailure(error);
      if (failure.code === "REMOTE_TIMEOUT") client.close();
      throw failure;
    }
  };

  /** Until something came, or the time is up, or the connection. */
  const wait = async (signal: AbortSignal): Promise<void> => {
    const over = new AbortController();
    const heard = new Promise<void>((resolve) => (wake = resolve));
    const beganMs = clock.monotonic();
    const limitMs = canIdle ? IDLE_MS : config.poll_interval_secs * 1000;
    const limit = clock.sleep(limitMs, AbortSignal.any([signal, over.signal]));
    const idling = canIdle ? client.idle() : new Promise<never>(() => undefined);
    const ended = idling.then((outcome) => {
      // What ends it later is the next thing that we ask.
      if (!over.signal.aborted && (outcome === false || clock.monotonic() - beganMs < SHORT_MS)) canIdle = false;
    });
    for (const one of [limit, ended]) one.catch(() => undefined);
    try {
      await Promise.race([heard, limit, ended, lost.promise]);
    } finally {
      over.abort();
      wake = () => undefined;
    }
  };

  const session: Session = {
    get uidValidity() {
      return client.mailbox === false ? "" : String(client.mailbox.uidValidity);
    },
    get uidNext() {
      return client.mailbox === false ? 0 : client.mailbox.uidNext;
    },
    get exists() {
      return client.mailbox === false ? 0 : client.mailbox.exists;
    },
    get isClosed() {
      return isLost || !client.usable;
    },
    get hasIdle() {
      return canIdle;
    },
    call,
    async news(signal) {
      signal.throwIfAborted();
      if (!isDue) await wait(signal);
      signal.throwIfAborted();
      // It ends IDLE, tells what came, and shows that there is still someone.
      if (!isDue) await call((open) => open.noop(), signal);
      isDue = false;
    },
    close: () => client.close(),
  };
  try {
    await call((open) => open.mailboxOpen(mailbox), signal);
    return session;
  } catch (error) {
    client.close();
    throw error;
  }
}

// A connection to the IMAP server, signed in.

/** Name look-up, connection, TLS and login together. */
const CONNECT_MS = 120_000;
const STEP_MS = 30_000;
/** Only where everything else fails: the session looks itself whether the server is there. */
const QUIET_MS = 1_800_000;

/** Throws CHANNEL_UNAUTHORIZED, REMOTE_*, ADDRESS_REFUSED, CONFIG_INVALID. */
function connect(account: Account, signal: AbortSignal): Promise<ImapFlow> {
  return account.logins.use((login) => signIn(account, login, signal), signal);
}

async function signIn({ config, clock, resolve }: Account, login: Login, signal: AbortSignal): Promise<ImapFlow> {
  signal.throwIfAborted();
  const server = imapServer(config);
  const [host, tls] = await Promise.all([hostOf(server, resolve), trustOf(config)]);
  // Only who has such a mailbox needs the library.
  const { ImapFlow } = await import("imapflow");
  signal.throwIfAborted();
  const client = new ImapFlow({
    host,
    port: server.port,
    secure: server.security === "tls",
    doSTARTTLS: server.security === "starttls",
    tls,
    auth:
      login.token === undefined
        ? { user: login.user, pass: login.password }
        : { user: login.user, accessToken: login.token },
    clientInfo: { name: "svc" },
    logger: false,
    disableAutoIdle: true,
    disableCompression: true,
    connectionTimeout: STEP_MS,
    greetingTimeout: STEP_MS,
    socketTimeout: QUIET_MS,
    // Enough for the largest requested piece, but not for a broken server to fill the memory.
    maxLiteralSize: 33_554_432,
    maxLineLength: 16_777_216,
    maxResponseSize: 67_108_864,
    maxResponseTokens: 500_000,
  });
  // Callers learn of the error from the promise; an `error` event without a listener would end the process.
  client.on("error", () => undefined);
  try {
    await within(clock, CONNECT_MS, signal, client.connect());
    return client;
  } catch (error) {
    client.close();
    signal.throwIfAborted();
    throw imapFailure(error);
  }
}

/**
 * Occasional requests to a mailbox (a file, a flag), over a connection that stays open a while for the next one.
 */
export interface Errands {
  /** Concurrent calls share a connection. `work` passes the signal to its requests. Throws as `openSession`. */
  run<T>(mailbox: string, work: (session: Session) => Promise<T>, signal: AbortSignal): Promise<T>;
  /** No request follows. */
  close(): void;
}

/** The mails of one turn are fetched one after the other; each login is a burden to the server. */
const LINGER_MS = 30_000;

interface Open {
  readonly session: Promise<Session>;
  readonly opening: AbortController;
  users: number;
  isThere: boolean;
  forget: () => void;
}

export function createErrands(account: Account): Errands {
  const open = new Map<string, Open>();
  let isOver = false;

  const drop = (mailbox: string, one: Open): void => {
    if (open.get(mailbox) === one) open.delete(mailbox);
    one.forget();
    one.opening.abort(new SvcError("REMOTE_UNREACHABLE", "The connection is not needed any more."));
    one.session.then((session) => session.close()).catch(() => undefined);
  };

  const enter = (mailbox: string): { one: Open; isReused: boolean } => {
    const known = open.get(mailbox);
    if (known !== undefined) {
      known.forget();
      return { one: known, isReused: known.isThere };
    }
    const opening = new AbortController();
    const session = openSession(account, mailbox, opening.signal);
    const one: Open = { session, opening, users: 0, isThere: false, forget: () => undefined };
    open.set(mailbox, one);
    session.then(
      () => (one.isThere = true),
      () => drop(mailbox, one),
    );
    return { one, isReused: false };
  };

  const leave = (mailbox: string, one: Open): void => {
    if (one.users > 0) return;
    if (!one.isThere) return drop(mailbox, one);
    one.forget = account.clock.after(LINGER_MS, () => drop(mailbox, one));
  };

  async function run<T>(mailbox: string, work: (session: Session) => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    if (isOver) throw new SvcError("CHANNEL_DOWN", "The channel is shut down.");
    const { one, isReused } = enter(mailbox);
    one.users += 1;
    let isLost = false;
    try {
      const session = await unlessAborted(one.session, signal);
      try {
        // What came since is not there for a client that was not told of it.
        if (isReused) await session.call((client) => client.noop(), signal);
        return await unlessAborted(work(session), signal);
      } catch (error) {
        isLost = session.isClosed;
        // The server may have ended a connection that only waited; that says nothing of the next one.
        if (!isLost || !isReused || signal.aborted || !isUnreachable(error)) throw error;
      }
    } finally {
      one.users -= 1;
      if (isLost) drop(mailbox, one);
      else leave(mailbox, one);
    }
    return run(mailbox, work, signal);
  }

  return {
    run,
    close() {
      isOver = true;
      for (const [mailbox, one] of open) drop(mailbox, one);
    },
  };
}

const isUnreachable = (error: unknown): boolean => error instanceof SvcError && error.code.startsWith("REMOTE_");

// Mails by what stays the same wherever they are moved: the Message-ID.

/** A mail is known by its Message-ID; one without by its place, which names no other mail ever. */
export const idOf = (messageId: string | undefined, uidValidity: string, uid: number): string =>
  messageId ?? `${uidValidity}:${uid}`;

/** Undefined: no mail in this mailbox has this id. */
export async function uidOf(session: Session, id: string, signal: AbortSignal): Promise<number | undefined> {
  const [, uidValidity, uid] = /^(\d{1,20}):(\d{1,10})$/.exec(id) ?? [];
  if (uid !== undefined) return uidValidity === session.uidValidity ? Number(uid) : undefined;
  if (!/^<[!-;=?-~]{1,250}>$/.test(id)) return undefined;
  return (await search(session, { header: { "message-id": id } }, signal)).at(-1);
}

type Query = Parameters<Parameters<Parameters<Session["call"]>[0]>[0]["search"]>[0];

/** Uids, lowest first. */
export async function search(session: Session, query: Query, signal: AbortSignal): Promise<number[]> {
  const found = await session.call((client) => client.search(query, { uid: true }), signal);
  if (Array.isArray(found)) return found.toSorted((a, b) => a - b);
  throw new SvcError("REMOTE_UNREACHABLE", "The IMAP server refuses to look for mail.");
}

// What the client library throws, as an error of ours: never with a word of the server's, nor with what was sent to it.

/** The library can't read an answer: the same question would end in the same way. */
export class UnreadableAnswer extends SvcError {
  constructor() {
    super("REMOTE_UNREACHABLE", "The mail server's answer can't be read.");
  }
}

export function imapFailure(error: unknown): SvcError {
  if (error instanceof SvcError) return error;
  const failure = (error ?? {}) as LibraryError;
  if (UNREADABLE.test(failure.code ?? "")) return new UnreadableAnswer();
  if (failure.authenticationFailed === true && !NOT_NOW.has(failure.serverResponseCode ?? "")) return refused();
  if (failure.mailboxMissing === true || failure.code === "NotFound") return missing();
  if (failure.tlsFailed === true || CERTIFICATE.test(failure.code ?? "")) return untrusted();
  const code: ErrorCode = LATE.has(failure.code ?? "") ? "REMOTE_TIMEOUT" : "REMOTE_UNREACHABLE";
  const { throttleReset: retryAfterMs } = failure;
  const wait = typeof retryAfterMs === "number" && retryAfterMs > 0 ? { retryAfterMs } : {};
  if (failure.authenticationFailed === true)
    return new SvcError(code, "The mail server refuses all logins at the moment.", wait);
  const why = /^[A-Z][A-Za-z_]{2,40}$/.test(failure.code ?? "") ? ` (${failure.code})` : "";
  return new SvcError(code, `The IMAP server can't be reached, or broke off${why}.`, wait);
}

interface LibraryError {
  readonly code?: string;
  readonly authenticationFailed?: boolean;
  readonly serverResponseCode?: string;
  readonly mailboxMissing?: boolean;
  readonly tlsFailed?: boolean;
  readonly throttleReset?: number;
}

/** RFC 5530: the server can't say now whether the login is right. RFC 2221: or wants to be asked elsewhere. */
const NOT_NOW = new Set(["UNAVAILABLE", "INUSE", "LIMIT", "SERVERBUG", "REFERRAL", "CONTACTADMIN"]);
const LATE = new Set([
  "CONNECT_TIMEOUT",
  "GREETING_TIMEOUT",
  "UPGRADE_TIMEOUT",
  "ETIMEOUT",
  "ETIMEDOUT",
  "LockTimeout",
]);
const UNREADABLE =
  /^(?:ParserError.*|MAX_IMAP_NESTING_REACHED|LineTooLarge|LiteralTooLarge|ResponseTooLarge|TooManyTokens|TooManyResponses|ResponseProcessingFailed)$/;
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|^ERR_TLS|^ERR_SSL|HOSTNAME_MISMATCH/;

export const refused = (): SvcError =>
  new SvcError("CHANNEL_UNAUTHORIZED", "The mail server refuses the user name, the password or the token.", {
    hint: "Check username and password of [channels_config.email]; many providers want an app password or a token there.",
  });

const missing = (): SvcError =>
  new SvcError("CHANNEL_CANNOT", "There is no mailbox of a name that the config has.", {
    hint: "Check mailbox, processed_mailbox and save_sent; names are as the server calls them, with its separator.",
  });

export const untrusted = (): SvcError =>
  new SvcError(
    "REMOTE_UNREACHABLE",
    "The connection to the mail server can't be made safe: its certificate, or TLS itself.",
    {
      hint: "Check the host's name, port and security; for a server with an authority of its own set tls_ca_file.",
    },
  );
