/** One command timed, and the middle of many samples. */
import { spawnSync } from "node:child_process";

/** Milliseconds from spawn to exit. Throws when the program can't be started. */
export function timed(program: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): number {
  const startedAt = performance.now();
  const { error } = spawnSync(program, [...args], { env });
  if (error) throw error;
  return performance.now() - startedAt;
}

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
