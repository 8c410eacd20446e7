/** The mailbox in which a person finds what was answered; and by which a retry finds out that it is none. */
import { SvcError } from "@svc/contract";
import type { Account } from "../account/account.ts";
import type { Errands } from "../imap/errands.ts";
import { search } from "../imap/find.ts";
import type { Session } from "../imap/session.ts";

export interface SentFolder {
  /** Whether a mail of this Message-ID is there. False when nobody can say: nothing is held back for that. */
  has(messageId: string, signal: AbortSignal): Promise<boolean>;
  /** Puts it there. Never throws: the mail was sent. */
  keep(mail: Buffer, signal: AbortSignal): Promise<void>;
  /** Its name, or undefined when none is wanted. Throws CHANNEL_CANNOT, and as `Session.call`. */
  name(session: Session, signal: AbortSignal): Promise<string | undefined>;
}

export function createSentFolder({ config, log }: Pick<Account, "config" | "log">, errands: Errands): SentFolder {
  const { save_sent: wanted, mailbox } = config;
  let found: string | undefined = wanted === "auto" ? undefined : wanted;

  const name = async (session: Session, signal: AbortSignal): Promise<string | undefined> => {
    if (wanted === "off") return undefined;
    if (found !== undefined) return found;
    const list = await session.call((client) => client.list(), signal);
    // RFC 6154. What only looks like it by its name may be somebody's folder.
    found = list.find(
      ({ specialUse, specialUseSource }) => specialUse === "\\Sent" && specialUseSource === "extension",
    )?.path;
    if (found !== undefined) return found;
    throw new SvcError("CHANNEL_CANNOT", "The IMAP server does not say which mailbox holds sent mail.", {
      hint: "Set save_sent to its name, or to off.",
    });
  };
  const place = (signal: AbortSignal) => errands.run(mailbox, (session) => name(session, signal), signal);
  const tell = (error: unknown, words: string): void => {
    log.warn(words, { reason: error instanceof SvcError ? error.code : "unknown" });
  };

  return {
    name,
    async has(messageId, signal) {
      if (wanted === "off") return false;
      try {
        const path = await place(signal);
        if (path === undefined) return false;
        const query = { header: { "message-id": messageId } };
        return (await errands.run(path, (session) => search(session, query, signal), signal)).length > 0;
      } catch (error) {
        signal.throwIfAborted();
        tell(error, "The mailbox of sent mail can't be looked at; whether a mail was sent before is not known.");
        return false;
      }
    },
    async keep(mail, signal) {
      if (wanted === "off") return;
      try {
        await errands.run(
          mailbox,
          async (session) => {
            const path = await name(session, signal);
            if (path !== undefined) await session.call((client) => client.append(path, mail, ["\\Seen"]), signal);
          },
          signal,
        );
      } catch (error) {
        tell(error, "An answer was sent, and can't be kept in the mailbox of sent mail.");
      }
    },
  };
}
