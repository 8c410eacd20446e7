/** Days as money is counted in: UTC, the same for every operator and every provider. */

export const DAY_MS = 86_400_000;

/** `YYYY-MM-DD`. */
export const utcDay = (atMs: number): string => new Date(atMs).toISOString().slice(0, 10);

export const untilNextDayMs = (nowMs: number): number => DAY_MS - (nowMs % DAY_MS);
