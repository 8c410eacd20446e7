/** Messages whose keys have not come yet: decrypted as soon as that can be, for a day. */
import type { FeatureContext } from "@svc/contract";
import { type Fields, listOf, parseJson } from "@svc/kit";
import { CHANNEL } from "./config.ts";
import type { Crypto } from "./crypto.ts";
import type { ReadEvents, RoomEvent } from "./event-reader.ts";

/** Their name in the feature's state. */
export const WAITING = "undecrypted";

/** One whose key has not come by then is given up. */
const WAITING_LASTS_MS = 86_400_000;
const MOST_WAITING = 500;
/** The key backup is asked again after so long. */
const BACKUP_REST_MS = 60_000;

interface WaitingEvent {
  readonly roomId: string;
  readonly event: Fields;
  readonly sinceMs: number;
}

export interface WaitingDeps {
  readonly crypto: Crypto | undefined;
  /** Looks for the key of a message among the backed-up ones; whether it is in the machine now. */
  readonly findKey: (roomId: string, sessionId: string, signal: AbortSignal) => Promise<boolean>;
  readonly context: Pick<FeatureContext, "clock">;
}

/** As the last process left them. */
export async function waitingEvents(state: FeatureContext["state"]) {
  const text = await state.get(WAITING);
  let all = listOf(text === undefined ? undefined : parseJson(Buffer.from(text))) as unknown as readonly WaitingEvent[];
  const askedBackupMs = new Map<string, number>();
  const idOf = ({ event }: RoomEvent): string => String(event["event_id"]);
  return {
    /** Those that can be decrypted now. `brought`: keys may have come. */
    async open(
      { crypto, findKey, context: { clock } }: WaitingDeps,
      brought: boolean,
      signal: AbortSignal,
    ): Promise<RoomEvent[]> {
      const opened: RoomEvent[] = [];
      for (const one of all) {
        const nowMs = clock.monotonic();
        const isDue = nowMs - (askedBackupMs.get(idOf(one)) ?? -Infinity) >= BACKUP_REST_MS;
        if (!brought && !isDue) continue;
        const result = await crypto?.decrypt(one.roomId, one.event);
        if (result?.state === "waiting" && isDue && result.sessionId !== undefined) {
          askedBackupMs.set(idOf(one), nowMs);
          if (await findKey(one.roomId, result.sessionId, signal)) opened.push(one);
        } else if (result !== undefined && result.state !== "waiting") opened.push(one);
      }
      return opened;
    },
    /** What goes on waiting. */
    after(
      opened: readonly RoomEvent[],
      { waiting, redacted }: ReadEvents,
      { clock, log }: Pick<FeatureContext, "clock" | "log">,
    ): readonly WaitingEvent[] {
      const gone = new Set([...opened.map(idOf), ...redacted]);
      const nowMs = clock.now();
      const old = all.filter((one) => !gone.has(idOf(one)));
      const fresh = old.filter(({ sinceMs }) => nowMs - sinceMs < WAITING_LASTS_MS);
      const count = old.length - fresh.length;
      if (count > 0) {
        log.warn("the keys of messages did not come within a day; they are not answered", { channel: CHANNEL, count });
      }
      const known = new Set(fresh.map(idOf));
      const more = waiting.filter((one) => !known.has(idOf(one))).map((one) => ({ ...one, sinceMs: nowMs }));
      return [...fresh, ...more].slice(-MOST_WAITING);
    },
    replace(next: readonly WaitingEvent[]): void {
      all = next;
    },
  };
}
