/**
 * Mails that the server or the library can't cope with: an answer about them can't be read, or the server breaks down over them
 * each time. They are remembered over connections: something simpler is asked then, and in the end nothing.
 */
import { SvcError } from "@svc/contract";
import { UnreadableAnswer } from "../imap/failure.ts";
import type { NewMail } from "./new-mail.ts";

export interface HardMails {
  /** What the first of `ways` comes to that works; undefined: none does. Throws as `Session.call`. */
  read<T>(
    mail: Pick<NewMail, "session" | "uidValidity" | "uid">,
    ways: readonly (() => Promise<T>)[],
  ): Promise<T | undefined>;
}

/** A connection may be lost at any mail; so often at the same one, it is because of that mail. */
const MOST_LOSSES = 3;
const MOST_KNOWN = 1000;

export function createHardMails(): HardMails {
  /** Losses that count as one failure, times the ways that failed. */
  const known = new Map<string, number>();
  const add = (key: string, count: number): void => {
    known.set(key, (known.get(key) ?? 0) + count);
    if (known.size > MOST_KNOWN) known.delete(known.keys().next().value as string);
  };
  return {
    async read({ session, uidValidity, uid }, ways) {
      const key = `${uidValidity}:${uid}`;
      for (const way of ways.slice(Math.floor((known.get(key) ?? 0) / MOST_LOSSES))) {
        try {
          return await way();
        } catch (error) {
          const isUnreadable = error instanceof UnreadableAnswer;
          if (isUnreadable) add(key, MOST_LOSSES);
          else if (session.isClosed && isRemote(error)) add(key, 1);
          if (!isUnreadable || session.isClosed) throw error;
        }
      }
      return undefined;
    },
  };
}

const isRemote = (error: unknown): boolean => error instanceof SvcError && error.code.startsWith("REMOTE_");
