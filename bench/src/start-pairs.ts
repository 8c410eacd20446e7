/** Cold starts of two builds with the same config, in pairs that take turns. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BINARY } from "./gateway.ts";
import { median } from "./measure.ts";
import { startedMs } from "./startup.ts";

export interface StartPair {
  /** From spawn to the first /health, medians. */
  readonly ownMs: number;
  readonly otherMs: number;
  /** This build's time over the other's, one number a round. */
  readonly ratios: readonly number[];
  readonly median: number;
}

/** `against`: the other binary. Each has a home of its own: neither has to read what the other's schema made. */
export async function measureStartPairs(against: string, rounds: number): Promise<StartPair> {
  const homes = new Map([BINARY, against].map((binary) => [binary, mkdtempSync(join(tmpdir(), "svc-bench-"))]));
  const start = (binary: string): Promise<number> =>
    startedMs(binary, { SVC_HOME: homes.get(binary)!, SVC__GATEWAY__PORT: "0" });
  // The first start makes the home.
  for (const binary of homes.keys()) await start(binary);
  const own: number[] = [];
  const other: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const order = round % 2 === 0 ? [against, BINARY] : [BINARY, against];
    for (const binary of order) (binary === BINARY ? own : other).push(await start(binary));
  }
  for (const home of homes.values()) rmSync(home, { recursive: true, force: true });
  const ratios = own.map((ms, round) => ms / other[round]!);
  return { ownMs: median(own), otherMs: median(other), ratios, median: median(ratios) };
}
