/**
 * The statistics of the guard.
 *
 * A round measures every build once, in mirrored order, so that what disturbs the machine disturbs all of them. Its result
 * for a figure is one number: the logarithm of the new build's value over the reference's. Rounds are independent: each has
 * new processes. Over the rounds
 *
 * - the estimate is the Hodges–Lehmann median of the Walsh averages (the means of all pairs of rounds, each with itself
 *   too), turned back into a ratio;
 * - its bounds are those of the Wilcoxon signed-rank test, exact for the number of rounds: each holds with at least 95 %
 *   confidence (one-sided), whatever the distribution, as long as it is symmetric. Two builds that cost the same have a
 *   symmetric one, because their names could be exchanged.
 *
 * A figure is worse if the lower bound is above the limit. One disturbed round moves neither much: no value counts by its
 * size, only by its rank among the averages.
 */

/** A build may cost so many times the reference. */
export const LIMIT = 1.05;
const CONFIDENCE = 0.95;

export interface Comparison {
  /** New over reference; 1: the same. */
  readonly ratio: number;
  /** Each with 95 % confidence: the true ratio is not below `low`, not above `high`. */
  readonly low: number;
  readonly high: number;
}

/** `open`: the bounds lie on both sides of the limit. */
export type Verdict = "worse" | "open" | "within";

/** Fewer rounds can't give a bound with 95 % confidence. */
export const LEAST_ROUNDS = 5;

/** `logRatios`: one for each round. @throws RangeError for fewer rounds than a bound needs. */
export function compare(logRatios: readonly number[]): Comparison {
  const rounds = logRatios.length;
  if (rounds < LEAST_ROUNDS) throw new RangeError(`${rounds} rounds are too few: ${LEAST_ROUNDS} or more are needed.`);
  const averages = walshAverages(logRatios);
  const cut = criticalRank(rounds);
  const middle = (averages.length - 1) / 2;
  return {
    ratio: Math.exp((averages[Math.floor(middle)]! + averages[Math.ceil(middle)]!) / 2),
    low: Math.exp(averages[cut]!),
    high: Math.exp(averages.at(-1 - cut)!),
  };
}

export function verdictOf({ low, high }: Comparison, limit = LIMIT): Verdict {
  if (low > limit) return "worse";
  return high > limit ? "open" : "within";
}

/** Sorted. */
function walshAverages(values: readonly number[]): number[] {
  const averages = values.flatMap((value, at) => values.slice(at).map((other) => (value + other) / 2));
  return averages.toSorted((a, b) => a - b);
}

/** The greatest sum of ranks that a symmetric sample stays at or below with a probability of at most 5 %. */
function criticalRank(rounds: number): number {
  // How many of the 2^rounds sets of ranks have which sum.
  let ways = [1];
  for (let rank = 1; rank <= rounds; rank += 1) {
    const before = ways;
    ways = Array.from({ length: before.length + rank }, (_, sum) => (before[sum] ?? 0) + (before[sum - rank] ?? 0));
  }
  let atOrBelow = 0;
  let sum = -1;
  while ((atOrBelow + ways[sum + 1]!) / 2 ** rounds <= 1 - CONFIDENCE) atOrBelow += ways[(sum += 1)]!;
  return sum;
}
