/**
 * Messages whose keys have not come yet: decrypted as soon as that can be, for a day. They are on disk with the position of the sync,
 * and each has a `locked` message in the inbox.
 */
import type { EndedLocked, FeatureContext } from "@svc/contract";
import { fieldsOf, listOf, parseJson, retryDelayMs, wordOf } from "@svc/kit";
import { CHANNEL } from "./config.ts";
import type { Crypto } from "./crypto.ts";
import type { ReadEvents, RoomEvent } from "./event-reader.ts";

/** Their name in the feature's state. */
export const WAITING = "undecrypted";

/** One whose key has not come by then is given up. */
const WAITING_LASTS_MS = 86_400_000;
/** Of all of them as JSON. */
const MOST_BYTES = 4_194_304;
/** The key backup is asked again for a session after so long at most, then after twice as long at most. */
const BACKUP_BACKOFF = { firstMs: 60_000, longestMs: 3_600_000 };
/** A key that comes later than its message comes within seconds. */
const LATE_MS = 60_000;
/** Why the app of a message's sender sends no key. https://spec.matrix.org/v1.16/client-server-api/#mroom_keywithheld */
const UNVERIFIED = "m.unverified";
/** Each is a request that the sync waits for. */
const MOST_BACKUP_ASKS = 10;

interface WaitingEvent extends RoomEvent {
  readonly sinceMs: number;
}

interface Held extends WaitingEvent {
  readonly bytes: number;
  /** The same as `sinceMs` on a clock that is not set. */
  readonly sinceMonotonicMs: number;
}

export interface WaitingDeps {
  readonly crypto: Crypto | undefined;
  /** Looks for the key of a message among the backed-up ones; whether it is in the machine now. */
  readonly findKey: (roomId: string, sessionId: string, signal: AbortSignal) => Promise<boolean>;
  readonly context: Pick<FeatureContext, "clock" | "log">;
}

export interface Opened {
  /** They can be decrypted now. */
  readonly events: readonly RoomEvent[];
  /** Ids of those that no key can open. */
  readonly unreadable: readonly string[];
}

/** What goes on waiting, and what it means for the inbox. */
export interface WaitingChange {
  readonly held: readonly Held[];
  readonly ended: readonly EndedLocked[];
  /** The text of the feature's state; undefined: it is on disk already. */
  readonly text: string | undefined;
}

/** As the last process left them. */
export async function waitingEvents(
  state: FeatureContext["state"],
  { crypto, findKey, context: { clock, log } }: WaitingDeps,
) {
  const text = await state.get(WAITING);
  let all = listOf(text === undefined ? undefined : parseJson(Buffer.from(text))).map((one) =>
    hold(one as unknown as WaitingEvent),
  );
  const backupAsks = new Map<string, { readonly dueAtMs: number; readonly asks: number }>();

  function hold({ roomId, event, sinceMs }: WaitingEvent): Held {
    const sinceMonotonicMs = clock.monotonic() - Math.max(0, clock.now() - sinceMs);
    const bytes = Buffer.byteLength(JSON.stringify({ roomId, event, sinceMs }));
    return { roomId, event, sinceMs, bytes, sinceMonotonicMs };
  }

  /** Sessions whose keys are late, as the log says. */
  const logged = new Set<string>();
  const tellLate = ({ roomId, event, sinceMonotonicMs }: Held, withheld: string | undefined): void => {
    const session = sessionOf({ roomId, event });
    const isLate = clock.monotonic() - sinceMonotonicMs >= LATE_MS;
    if (logged.has(session) || (!isLate && withheld === undefined)) return;
    logged.add(session);
    log.warn("an encrypted message can't be read: its key has not come; it waits for a day", {
      channel: CHANNEL,
      room: roomId.slice(0, 320),
      event: idOf({ event }).slice(0, 320),
      ...(withheld !== undefined && { withheld: withheld.slice(0, 100) }),
      ...(withheld === UNVERIFIED && { hint: "Verify this device: svc channels verify federated" }),
    });
  };

  const dueAtMs = (session: string): number => {
    return backupAsks.get(session)?.dueAtMs ?? -Infinity;
  };
  const noteAsk = (session: string, atMs: number): void => {
    const asks = (backupAsks.get(session)?.asks ?? 0) + 1;
    backupAsks.set(session, { dueAtMs: atMs + retryDelayMs(asks, BACKUP_BACKOFF), asks });
  };

  return {
    /** `brought`: keys may have come. */
    async open(brought: boolean, signal: AbortSignal): Promise<Opened> {
      const events: RoomEvent[] = [];
      const unreadable: string[] = [];
      /** Sessions without any key: none of their messages need be tried. */
      const missing = new Set<string>();
      let asks = 0;
      for (const held of all) {
        const { roomId, event } = held;
        const session = sessionOf({ roomId, event });
        if (missing.has(session)) continue;
        const nowMs = clock.monotonic();
        const isDue = nowMs >= dueAtMs(session) && asks < MOST_BACKUP_ASKS;
        if (!brought && !isDue) continue;
        const result = await crypto?.decrypt(roomId, event);
        if (result?.state === "waiting") tellLate(held, result.withheld);
        if (result?.state === "waiting" && isDue && result.sessionId !== undefined) {
          asks += 1;
          noteAsk(session, nowMs);
          if (await findKey(roomId, result.sessionId, signal)) events.push({ roomId, event });
          else if (result.isMissing) missing.add(session);
        } else if (result?.state === "waiting") {
          if (result.isMissing) missing.add(session);
        } else if (result?.state === "unreadable") unreadable.push(idOf({ event }));
        else if (result !== undefined) events.push({ roomId, event });
      }
      return { events, unreadable };
    },
    /** After the opened ones were read with what has come. */
    after({ events, unreadable }: Opened, { inbound, waiting, redacted }: ReadEvents): WaitingChange {
      const lockedAgain = new Set(waiting.map(idOf));
      const opened = new Set(events.map(idOf).filter((id) => !lockedAgain.has(id)));
      const gone = new Set([...opened, ...unreadable, ...redacted]);
      const nowMs = clock.monotonic();
      const left = all.filter((one) => !gone.has(idOf(one)));
      const known = new Set(left.map(idOf));
      const added = waiting
        .filter((one) => !known.has(idOf(one)) && !redacted.has(idOf(one)))
        .map((one) => hold({ ...one, sinceMs: clock.now() }));
      const fresh = left.filter(({ sinceMonotonicMs }) => nowMs - sinceMonotonicMs < WAITING_LASTS_MS);
      const held = newest([...fresh, ...added]);
      const late = left.length - fresh.length;
      if (late > 0) {
        const what = "the keys of messages did not come within a day; they are not answered";
        log.warn(what, { channel: CHANNEL, count: late });
      }
      const beyond = fresh.length + added.length - held.length;
      if (beyond > 0) {
        const what = "too many messages wait for their keys; the oldest are given up";
        log.warn(what, { channel: CHANNEL, count: beyond, maxBytes: MOST_BYTES });
      }
      const heldIds = new Set(held.map(idOf));
      const read = new Set(inbound.map(({ id }) => id));
      const ended: EndedLocked[] = [
        ...[...left, ...added]
          .map(idOf)
          .filter((id) => !heldIds.has(id))
          .map(asFailed),
        ...unreadable.map(asFailed),
        ...[...opened].filter((id) => !read.has(id) && !redacted.has(id)).map((id) => ({ id, as: "done" }) as const),
      ];
      const isChanged = held.length !== all.length || added.length > 0;
      return { held, ended, text: isChanged ? textOf(held) : undefined };
    },
    /** It is on disk. */
    replace({ held }: WaitingChange): void {
      all = [...held];
      const sessions = new Set(all.map(sessionOf));
      for (const session of backupAsks.keys()) if (!sessions.has(session)) backupAsks.delete(session);
      for (const session of logged) if (!sessions.has(session)) logged.delete(session);
    },
  };
}

const idOf = ({ event }: Pick<RoomEvent, "event">): string => String(event["event_id"]);

const sessionOf = ({ roomId, event }: RoomEvent): string =>
  `${roomId} ${wordOf(fieldsOf(event["content"])["session_id"]) ?? ""}`;

const asFailed = (id: string): EndedLocked => ({ id, as: "failed" });

const textOf = (held: readonly Held[]): string =>
  JSON.stringify(held.map(({ roomId, event, sinceMs }) => ({ roomId, event, sinceMs })));

/** As many as there is room for. */
function newest(held: readonly Held[]): readonly Held[] {
  let bytes = 0;
  let first = held.length;
  while (first > 0 && bytes + held[first - 1]!.bytes <= MOST_BYTES) bytes += held[(first -= 1)]!.bytes;
  return first === 0 ? held : held.slice(first);
}
