/** One mailbox, opened over a connection of its own. */
import { SvcError } from "@svc/contract";
import type { ImapFlow } from "imapflow";
import type { Account } from "../account/account.ts";
import { within } from "../account/time-limit.ts";
import { connect } from "./connect.ts";
import { imapFailure } from "./failure.ts";

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

/** Longer than any server needs for what is asked of it here, each time. */
const ANSWER_MS = 60_000;
/**
 * So often a server that waits for mail with us is asked whether it is still there, and IDLE begun anew. The protocol allows
 * 29 minutes (RFC 2177); routers on the way forget connections after less, and say nothing.
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
  /** Something came that nobody has looked at. */
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
      // It ends IDLE, tells what came, and shows that there is still somebody.
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
