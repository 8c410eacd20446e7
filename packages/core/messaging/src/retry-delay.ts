/** Back-off of deliveries, of messages whose model is down, and of notices. */
const FIRST_MS = 1_000;
const LONGEST_MS = 300_000;
/** A longer delay that a platform asks for is ignored: the value may be anything. */
const LONGEST_ASKED_MS = 86_400_000;

/**
 * Doubles from at most a second. Half of it is jitter, so that what failed together does not come back together. The delay that
 * the platform asked for is never undercut, and is spread out too. `attempts`: those that failed, this one included.
 */
export function retryDelayMs(attempts: number, askedMs: number | undefined, random: number): number {
  const full = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(attempts - 1, 30));
  const asked = askedMs !== undefined && Number.isFinite(askedMs) ? Math.min(askedMs, LONGEST_ASKED_MS) : 0;
  return Math.round(Math.max(asked * (1 + random / 10), full / 2 + (random * full) / 2));
}
