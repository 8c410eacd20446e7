/** Files that somebody may be writing are read again until they have been left alone for a moment. */
import type { Clock } from "@svc/contract";
import { type Stamp, stampOf } from "./stamp.ts";

export const SETTLE_MS = 100;
/** Of a file that is written on and on. */
const MOST_LOOKS = 20;

/** Undefined: not even now; what was read before stays. */
export async function settledStamp(folder: string, clock: Clock): Promise<Stamp | undefined> {
  for (let look = 0; look < MOST_LOOKS; look += 1) {
    const stamp = await stampOf(folder);
    const nowMs = clock.now();
    // A time far in the future is another machine's, or wrong.
    if (!stamp.writtenMs.some((ms) => Math.abs(nowMs - ms) < SETTLE_MS)) return stamp;
    await clock.sleep(SETTLE_MS);
  }
  return undefined;
}
