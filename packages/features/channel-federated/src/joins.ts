/** Rooms that the account was invited to and joins. A homeserver far away may take minutes: sync goes on meanwhile. */
import { type FeatureContext, SvcError } from "@svc/contract";
import { listOf, parseJson, pathPart, retry, wordOf } from "@svc/kit";
import type { MatrixApi } from "./api.ts";
import { CHANNEL, ROOM_ID } from "./config.ts";

/** Their name in the feature's state: a list of room ids. */
export const INVITED = "invited";

const LIMIT_MS = 120_000;
const BACKOFF = { firstMs: 10_000, longestMs: 600_000 };
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
    const path = `client/v3/join/${pathPart(roomId)}`;
    const request = { method: "POST", path, json: {}, timeoutMs: LIMIT_MS } as const;
    const onFailure = (error: unknown): void => {
      if (FINAL.has(codeOf(error))) throw error;
    };
    try {
      await retry(() => api.call(request, signal), { ...BACKOFF, maxTries: MOST_TRIES, clock, signal, onFailure });
      log.info("joined a room by invitation", { channel: CHANNEL, room: roomId });
    } catch (error) {
      if (signal.aborted) return;
      log.warn("an invitation could not be accepted", { channel: CHANNEL, room: roomId, code: codeOf(error) });
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

/** The homeserver refuses for good. */
const FINAL: ReadonlySet<string> = new Set(["DELIVERY_REFUSED", "CHANNEL_UNAUTHORIZED"]);

const codeOf = (error: unknown): string => (error instanceof SvcError ? error.code : "unknown");
