/** How far the mailbox has been read; kept over restarts. */
import type { StateStore } from "@svc/contract";
import * as v from "valibot";
import { historyIdSchema } from "../api/history-id.ts";

export interface Place {
  /** Everything up to this history id was read. */
  readonly historyId: string;
  /** When the newest mail that was read, or the mailbox's first watch, came. Milliseconds since the epoch. */
  readonly newestMs: number;
}

const KEY = "place";
const place = v.object({ historyId: historyIdSchema, newestMs: v.number() });

/** Undefined before the first watch. */
export async function readPlace(state: StateStore): Promise<Place | undefined> {
  const parsed = v.safeParse(place, jsonOf(await state.get(KEY)));
  return parsed.success ? parsed.output : undefined;
}

export async function keepPlace(state: StateStore, { historyId, newestMs }: Place): Promise<void> {
  await state.set(KEY, JSON.stringify({ historyId, newestMs }));
}

const OWNER = "owner";

/** A place in one mailbox means nothing in another. Resolves with whether there was one of another mailbox. */
export async function forgetOthers(state: StateStore, address: string | undefined): Promise<boolean> {
  const owner = await state.get(OWNER);
  if (address === undefined || owner === address) return false;
  if (owner !== undefined) await state.delete(KEY);
  await state.set(OWNER, address);
  return owner !== undefined;
}

export function jsonOf(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
