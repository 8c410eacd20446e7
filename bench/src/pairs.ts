/** Whole turns of two builds, in pairs that take turns: what a change costs, with the machine's own ups and downs taken out. */
import { BINARY, startGateway } from "./gateway.ts";
import type { LoadResult } from "./load.ts";
import { median } from "./measure.ts";
import { loadTurns } from "./whole-turns.ts";

export interface Pair {
  readonly connections: number;
  /** This build's rate over the other's, one number a round. */
  readonly ratios: readonly number[];
  readonly median: number;
  /** Median of the CPU time a request takes, this build's over the other's: steadier than the rate. */
  readonly cpu: number;
}

/** `against`: the other binary. */
export async function measurePairs(against: string, rounds: number, seconds: number): Promise<Pair[]> {
  const pairs: Pair[] = [];
  for (const connections of [1, 10, 50]) {
    const ratios: number[] = [];
    const cpu: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      // Who goes first changes, or whatever the first one leaves behind would always be the second one's burden.
      const order = round % 2 === 0 ? [against, BINARY] : [BINARY, against];
      const results = new Map<string, LoadResult>();
      for (const binary of order)
        results.set(binary, await loadTurns(await startGateway(0, binary), connections, seconds));
      const [own, other] = [results.get(BINARY)!, results.get(against)!];
      ratios.push(own.perSecond / other.perSecond);
      cpu.push(own.cpuUs / other.cpuUs);
    }
    pairs.push({ connections, ratios, median: median(ratios), cpu: median(cpu) });
  }
  return pairs;
}
