/** How long to wait before the next try: longer each time, and not the same for all pages that lost one service together. */
const FIRST_MS = 400;
const LONGEST_MS = 15_000;

/** @param random 0 to 1 */
export function backoffMs(attempt: number, random: number): number {
  const most = Math.min(LONGEST_MS, FIRST_MS * 2 ** attempt);
  return most / 2 + (most / 2) * random;
}

/** 0 to 1. */
export const anyFraction = (): number => (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) / 2 ** 32;
