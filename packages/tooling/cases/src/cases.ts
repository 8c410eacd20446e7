/** How many cases a property test tries. */

/**
 * `count` in `npm run test:all`, which sets SVC_CASES=all; else a tenth, and ten at least where `count` allows it. Each run
 * has other cases: SVC_SEED (a 32-bit integer, which the run prints) brings them back.
 */
export function cases(count: number, env: Readonly<Record<string, string | undefined>> = process.env): number {
  return env["SVC_CASES"] === "all" ? count : Math.min(count, Math.max(10, Math.ceil(count / 10)));
}
