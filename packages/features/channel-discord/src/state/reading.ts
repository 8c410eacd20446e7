/**
 * How far each server, and the direct messages, have been read: ids are in the order of time, so one of each is enough to ask
 * for what was written while nobody was connected.
 */
import type { FeatureContext } from "@svc/contract";
import { idAt, idOf, isLater, laterOf, timeOfId } from "../api/snowflake.ts";

export interface Reading {
  /** Called with each session. The first one of all is where reading begins. */
  begin(): Promise<void>;
  /** What is later than this id may be unread. `joinedAtMs`: nothing before is of interest. */
  since(place: string, joinedAtMs?: number): Promise<string>;
  /** It was handed over, or is of no interest, and so is what came before it. */
  moved(place: string, id: string): void;
  /** To disk, where it moved. */
  save(): Promise<void>;
}

/** A place that is no server. */
export const DIRECT = "direct";

/** Less than ids are remembered by the inbox, so that what was answered is not answered again. */
const LONGEST_MS = 604_800_000;
/** Of different channels a later message may come first; what is read twice is known by its id. */
const OVERLAP_MS = 60_000;

/** What the platform's clock may be ahead of ours. */
const MOST_AHEAD_MS = 86_400_000;

const BEGAN = "began";
const nameOf = (place: string): string => `read ${place}`;

export function readingIn({ state, clock }: Pick<FeatureContext, "state" | "clock">): Reading {
  const moved = new Map<string, string>();
  const kept = new Map<string, string>();
  const stored = async (name: string): Promise<string | undefined> => idOf(await state.get(name));
  return {
    async begin() {
      if ((await stored(BEGAN)) === undefined) await state.set(BEGAN, idAt(clock.now()));
    },
    async since(place, joinedAtMs = 0) {
      const read = moved.get(place) ?? (await stored(nameOf(place)));
      const began = (await stored(BEGAN)) ?? idAt(clock.now());
      const from = read === undefined ? began : laterOf(began, idAt(timeOfId(read) - OVERLAP_MS));
      return laterOf(from, idAt(Math.max(joinedAtMs, clock.now() - LONGEST_MS)));
    },
    moved(place, id) {
      // One such id, and nothing would ever be unread again.
      if (timeOfId(id) > clock.now() + MOST_AHEAD_MS) return;
      const before = moved.get(place);
      if (before === undefined || isLater(id, before)) moved.set(place, id);
    },
    async save() {
      for (const [place, id] of moved) {
        if (kept.get(place) === id) continue;
        await state.set(nameOf(place), id);
        kept.set(place, id);
      }
    },
  };
}
