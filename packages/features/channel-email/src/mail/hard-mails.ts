/**
 * Mails of which the library could not read an answer of the server's. Such an answer may have ended the connection, so that they
 * are remembered over connections: the next time something simpler is asked, and in the end nothing.
 */
import { UnreadableAnswer } from "../imap/failure.ts";
import type { NewMail } from "./new-mail.ts";

export interface HardMails {
  /** What the first of `ways` comes to that works; undefined: none does. Throws as `Session.call`. */
  read<T>(mail: NewMail, ways: readonly (() => Promise<T>)[]): Promise<T | undefined>;
}

const MOST = 1000;

export function createHardMails(): HardMails {
  const failures = new Map<string, number>();
  return {
    async read({ session, uidValidity, uid }, ways) {
      const key = `${uidValidity}:${uid}`;
      for (const way of ways.slice(failures.get(key) ?? 0)) {
        try {
          return await way();
        } catch (error) {
          if (!(error instanceof UnreadableAnswer)) throw error;
          failures.set(key, (failures.get(key) ?? 0) + 1);
          if (failures.size > MOST) failures.delete(failures.keys().next().value as string);
          if (session.isClosed) throw error;
        }
      }
      return undefined;
    },
  };
}
