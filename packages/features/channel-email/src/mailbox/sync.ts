/** Reads what is new in the mailbox and hands it over; only then the place moves on. */
import type { FeatureContext, Inbound } from "@svc/contract";
import { search } from "../imap/find.ts";
import type { Session } from "../imap/session.ts";
import type { NewMail } from "../mail/new-mail.ts";
import { missedIn } from "./catch-up.ts";
import type { HeaderReader } from "./header-reader.ts";
import { keepPlace, type Place, readPlace } from "./place.ts";

export interface SyncParts {
  readonly context: Pick<FeatureContext, "state" | "receive" | "clock" | "log">;
  /** Names the mailbox, so that a place in another one is not taken for one here. */
  readonly of: string;
  readonly headers: HeaderReader;
  /** What a mail says to the agent; undefined: nothing, because of who wrote it or what it is. */
  readonly inboundOf: (mail: NewMail, signal: AbortSignal) => Promise<Inbound | undefined>;
}

/** Throws as `Session.call`, and what `receive` and the store do: then nothing is lost, and the next time goes on there. */
export async function sync(parts: SyncParts, session: Session, signal: AbortSignal): Promise<void> {
  const { context, of } = parts;
  const { state, clock, log } = context;
  const place = await readPlace(state, of);
  const { uidValidity, uidNext } = session;
  if (place === undefined) {
    // Nobody expects an answer to old mail.
    const nowMs = clock.now();
    return keepPlace(state, { of, uidValidity, uid: uidNext - 1, newestMs: nowMs, beganMs: nowMs });
  }
  if (place.uidValidity === uidValidity) {
    const found = await search(session, { uid: `${place.uid + 1}:*` }, signal);
    // "*" is the newest mail, however old it is.
    return read(
      parts,
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
  await read(parts, session, undefined, uids, signal);
  await keepPlace(state, { ...place, uidValidity, uid: uidNext - 1 });
}

/** Headers of so many mails are asked for at once. */
const AT_ONCE = 20;

/** `place`: moves on with each mail; undefined: the caller moves it at the end. */
async function read(
  { context, inboundOf, headers }: SyncParts,
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
