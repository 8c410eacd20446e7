/** How long rests what failed: a delivery, a message whose model is down, a notice. */

const FIRST_MS = 1_000;
const LONGEST_MS = 300_000;
/** A platform that asks for more is not believed: it may have sent anything. */
const LONGEST_ASKED_MS = 86_400_000;

/**
 * Doubles from at most a second, half of it jitter, so that what failed together does not come back together; the
 * platform's own wish is never undercut, and is spread out too. `attempts`: those that failed, this one included.
 */
export function restMs(attempts: number, askedMs: number | undefined, random: number): number {
  const full = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(attempts - 1, 30));
  const asked = askedMs !== undefined && Number.isFinite(askedMs) ? Math.min(askedMs, LONGEST_ASKED_MS) : 0;
  return Math.round(Math.max(asked * (1 + random / 10), full / 2 + (random * full) / 2));
}
