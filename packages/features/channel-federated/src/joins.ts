/** Rooms that the account was invited to and joins. A homeserver far away may take minutes: sync goes on meanwhile. */
import { type FeatureContext, SvcError } from "@svc/contract";
import { listOf, parseJson, pathPart, wordOf } from "@svc/kit";
import type { MatrixApi } from "./api.ts";
import { CHANNEL, ROOM_ID } from "./config.ts";

/** Their name in the feature's state: a list of room ids. */
export const INVITED = "invited";

const LIMIT_MS = 120_000;
const FIRST_REST_MS = 5_000;
const LONGEST_REST_MS = 600_000;
const MOST_TRIES = 12;
const MOST_ROOMS = 50;

export interface Joins {
  /** Rooms that are not joined yet. */
  left(): readonly string[];
  add(roomIds: readonly string[]): void;
  /** Resolves when nothing is tried any more. */
  ended(): Promise<void>;
}

/** Goes on with those that the last process left. */
export async function createJoins(
  { api, context }: { readonly api: MatrixApi; readonly context: Pick<FeatureContext, "clock" | "log" | "state"> },
  signal: AbortSignal,
): Promise<Joins> {
  const { clock, log, state } = context;
  const open = new Map<string, Promise<void>>();

  const join = async (roomId: string): Promise<void> => {
    for (let tries = 1; ; tries += 1) {
      try {
        const path = `client/v3/join/${pathPart(roomId)}`;
        await api.call({ method: "POST", path, json: {}, timeoutMs: LIMIT_MS }, signal);
        log.info("joined a room by invitation", { channel: CHANNEL, room: roomId });
        return;
      } catch (error) {
        if (signal.aborted) return;
        const code = error instanceof SvcError ? error.code : "unknown";
        if (code === "DELIVERY_REFUSED" || code === "CHANNEL_UNAUTHORIZED" || tries === MOST_TRIES) {
          log.warn("an invitation could not be accepted", { channel: CHANNEL, room: roomId, code });
          return;
        }
        await clock.sleep(Math.min(LONGEST_REST_MS, FIRST_REST_MS * 2 ** tries), signal).catch(() => undefined);
        if (signal.aborted) return;
      }
    }
  };
  const add = (roomIds: readonly string[]): void => {
    for (const roomId of roomIds) {
      if (open.has(roomId) || open.size >= MOST_ROOMS) continue;
      const joining = join(roomId).finally(() => {
        if (!signal.aborted) open.delete(roomId);
      });
      open.set(roomId, joining);
    }
  };

  const text = await state.get(INVITED);
  const kept = listOf(text === undefined ? undefined : parseJson(Buffer.from(text)));
  add(kept.flatMap((room) => wordOf(room) ?? []).filter((room) => ROOM_ID.test(room)));
  return { left: () => [...open.keys()], add, ended: async () => void (await Promise.allSettled(open.values())) };
}
