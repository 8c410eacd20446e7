/** What a person sees of a mail in the mailbox: read once its turn begins, and out of the way once it is answered. */
import { type Channel, SvcError } from "@svc/contract";
import type { Account } from "./account.ts";
import { type Errands, uidOf } from "./imap.ts";

/** Undefined: the config wants neither. */
export function createMarks({ config }: Pick<Account, "config">, errands: Errands): Channel["readMarks"] {
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
