/** The names of the log's files: `svc.log` is written, `svc.log.1` is the newest of those put aside. */
import { readdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Home } from "./home.ts";

export const logFilePath = ({ logsDir }: Pick<Home, "logsDir">): string => join(logsDir, "svc.log");

/** Numbers of the files put aside (`svc.log.3` → 3), the newest first. Empty when the folder can't be read. */
export function asideNumbers(file: string): number[] {
  const name = basename(file);
  try {
    const names = readdirSync(dirname(file)).filter((each) => each.startsWith(`${name}.`));
    const numbers = names.map((each) => each.slice(name.length + 1)).filter((text) => /^[1-9]\d{0,5}$/.test(text));
    return numbers.map(Number).sort((a, b) => a - b);
  } catch {
    return [];
  }
}

/**
 * Makes room for a new `file`; `maxFiles` is how many there will be then, at most. Moves up to the first gap only, so that
 * nothing is pushed out needlessly.
 */
export function putAside(file: string, maxFiles: number): void {
  const aside = (number: number): string => `${file}.${number}`;
  const last = maxFiles - 1;
  const there = asideNumbers(file);
  for (const number of there) if (number > last) rmSync(aside(number), { force: true });
  if (last === 0) return rmSync(file, { force: true });
  let free = 1;
  while (free < last && there.includes(free)) free += 1;
  for (let number = free; number > 1; number -= 1) renameSync(aside(number - 1), aside(number));
  renameSync(file, aside(1));
}
