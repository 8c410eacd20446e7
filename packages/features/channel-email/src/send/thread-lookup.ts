/** Where in a thread to answer when nobody said which mail of it: the newest one in the mailbox. */
import { SvcError } from "@svc/contract";
import { type ThreadPlace, threadPlaceOf } from "@svc/kit/mail";
import type { Account } from "../account/account.ts";
import type { Errands } from "../imap/errands.ts";
import { search } from "../imap/find.ts";
import { headersIn } from "../mail/header-block.ts";

/** Undefined for what is no Message-ID; the thread's beginning alone where the mailbox can't say more. */
export async function newestIn(
  thread: string,
  { config }: Pick<Account, "config">,
  errands: Errands,
  signal: AbortSignal,
): Promise<ThreadPlace | undefined> {
  if (!/^<[!-;=?-~]{1,250}>$/.test(thread)) return undefined;
  const beginning: ThreadPlace = { messageId: thread, references: [], subject: "" };
  try {
    return await errands.run(
      config.mailbox,
      async (session) => {
        const either = [{ header: { "message-id": thread } }, { header: { references: thread } }];
        const uid = (await search(session, { or: either }, signal)).at(-1);
        if (uid === undefined) return beginning;
        const query = { uid: true, headers: ["message-id", "references", "in-reply-to", "subject"] };
        const mail = await session.call((client) => client.fetchOne(String(uid), query, { uid: true }), signal);
        const place = mail === false ? beginning : threadPlaceOf(headersIn(mail.headers));
        return place.messageId === undefined ? beginning : place;
      },
      signal,
    );
  } catch (error) {
    signal.throwIfAborted();
    // The answer is worth more than the place of it.
    if (error instanceof SvcError) return beginning;
    throw error;
  }
}
