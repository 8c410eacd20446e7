/** How far the mailbox has been read; kept over restarts. */
import type { StateStore } from "@svc/contract";
import { parseJson } from "@svc/kit";
import * as v from "valibot";

export interface Place {
  /** Which mailbox it is a place in. */
  readonly of: string;
  readonly uidValidity: string;
  /** Everything up to this uid was read. */
  readonly uid: number;
  /** When the newest mail that was read came, as the server says; at first, when reading began. Milliseconds since the epoch. */
  readonly newestMs: number;
  /** When reading began: what was written before is never answered. */
  readonly beganMs: number;
}

const KEY = "place";
const place = v.object({
  of: v.string(),
  uidValidity: v.string(),
  uid: v.pipe(v.number(), v.safeInteger()),
  newestMs: v.number(),
  beganMs: v.number(),
});

/** Undefined before the first look at this mailbox: a place in another one means nothing here. */
export async function readPlace(state: StateStore, of: string): Promise<Place | undefined> {
  const text = await state.get(KEY);
  const parsed = v.safeParse(place, text === undefined ? undefined : parseJson(Buffer.from(text)));
  return parsed.success && parsed.output.of === of ? parsed.output : undefined;
}

export const keepPlace = (state: StateStore, place: Place): Promise<void> => state.set(KEY, JSON.stringify(place));
