/** What is asked of a mailbox now and then (a file, a mark), over a connection that waits a while for the next one. */
import { SvcError } from "@svc/contract";
import { unlessAborted } from "@svc/kit";
import type { Account } from "../account/account.ts";
import { openSession, type Session } from "./session.ts";

export interface Errands {
  /** Several at the same time share a connection. `work` uses the signal for what it asks. Throws as `openSession`. */
  run<T>(mailbox: string, work: (session: Session) => Promise<T>, signal: AbortSignal): Promise<T>;
  /** Nothing is asked after that. */
  close(): void;
}

/** The mails of one turn are asked for one after the other; each login is a burden to the server. */
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
