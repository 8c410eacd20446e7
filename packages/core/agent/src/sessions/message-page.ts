/** One page of a conversation, from its end or from a cursor backwards. */
import { SvcError } from "@svc/contract";
import type { SessionPlace, Store } from "@svc/store";
import { shownMessages } from "./shown-messages.ts";
import type { SessionMessage, SessionPage, SessionPageRequest } from "./types.ts";

/** A page begins at a turn, of which the first `shown` messages are still to come; undefined: all of them. */
interface Start {
  readonly place: SessionPlace;
  readonly shown: number | undefined;
}

export function messagePage(
  store: Store,
  place: SessionPlace,
  { limit, before }: SessionPageRequest,
  redact: (text: string) => string,
): Omit<SessionPage, "followUps"> {
  const newestFirst: SessionMessage[] = [];
  let next: Start | undefined = before === undefined ? { place, shown: undefined } : startOf(before, place);
  while (next) {
    const { turns, before: older } = store.sessions.turnsBefore(next.place, 1);
    const shown: SessionMessage[] = turns.flatMap((turn) => shownMessages(turn, redact)).slice(0, next.shown);
    while (shown.length > 0) {
      if (newestFirst.length === limit)
        return { messages: newestFirst.reverse(), before: cursorOf(next, shown.length) };
      newestFirst.push(shown.pop()!);
    }
    next = older && { place: older, shown: undefined };
  }
  return { messages: newestFirst.reverse(), before: undefined };
}

const cursorOf = ({ place }: Start, shown: number): string => `${place.lastTurn}.${shown}`;

/** The session is the one that was asked for, so a cursor out of another one finds nothing. */
function startOf(cursor: string, { session }: SessionPlace): Start {
  const [, turn, shown] = /^(\d{1,15})\.(\d{1,9})$/.exec(cursor) ?? [];
  if (turn === undefined) throw new SvcError("BAD_REQUEST", "The cursor is not one that a page of messages gave.");
  return { place: { session, lastTurn: Number(turn) }, shown: Number(shown) };
}
