/** The time of day with fractions of a millisecond, for what is over in less than one. */
import type { Clock } from "@svc/contract";

/** Past this the clock was set, or has been corrected for long. The clock itself tells whole milliseconds only. */
const MOST_OFF_MS = 2;

/**
 * Milliseconds since the epoch. It goes on by the monotonic clock, so that nothing ends before it began, and follows the
 * clock of the machine when that is set.
 */
export function fineTime(clock: Clock): () => number {
  let offsetMs = -Infinity;
  return () => {
    const elapsedMs = clock.monotonic();
    const wholeMs = clock.now() - elapsedMs;
    // The whole milliseconds lag behind: of two readings the later one is nearer.
    if (wholeMs > offsetMs || offsetMs - wholeMs > MOST_OFF_MS) offsetMs = wholeMs;
    return offsetMs + elapsedMs;
  };
}
