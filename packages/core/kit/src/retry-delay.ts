import { randomInt } from "node:crypto";

export interface RetryDelays {
  /** Before the first retry, at most; each further one doubles. */
  readonly firstMs: number;
  readonly longestMs: number;
}

/** Milliseconds to wait after `failures` failures in a row (from 1). Half fixed, half jitter: clients that failed together don't return together. */
export function retryDelayMs(
  failures: number,
  { firstMs, longestMs }: RetryDelays,
  random: () => number = () => randomInt(1_000_000) / 1_000_000,
): number {
  const full = Math.min(longestMs, firstMs * 2 ** Math.min(Math.max(0, failures - 1), 30));
  return full / 2 + (random() * full) / 2;
}
