/** Words of the service as people read them. */

/** `waiting_approval` → `waiting approval`. */
export const plain = (word: string): string => word.replaceAll(/[_-]/g, " ");

/** `1 run`, `2 runs`. */
export const count = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`;

/** `12.3 MB` */
export function bytes(n: number): string {
  const units = ["B", "kB", "MB", "GB"];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, n)) / 3));
  return `${(n / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power] ?? ""}`;
}

export const dollars = (usd: number): string => `$${usd.toFixed(usd < 1 ? 4 : 2)}`;
