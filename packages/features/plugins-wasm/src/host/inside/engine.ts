/** The WebAssembly engine of this process, bounded before it sees the module. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { ProcessLimits } from "../frames.ts";

/**
 * Extism bounds neither: a module's memory may grow as far as it says itself, or as far as there is any. The engine takes
 * these for modules and instances that are made from now on; growing beyond is answered with -1, as the standard says.
 */
export function boundEngine({ maxPages }: ProcessLimits): void {
  setFlagsFromString(`--wasm-max-mem-pages=${maxPages}`);
  setFlagsFromString(`--wasm-max-table-size=${MAX_TABLE_ENTRIES}`);
}

/** 8 bytes each. */
const MAX_TABLE_ENTRIES = 200_000;

/**
 * Gives back the memories of calls that are over, when they have come to more than one call may use: the engine takes its time,
 * and whoever watches this process from outside can't tell them from one that is in use. Not while somebody waits.
 */
export function memoryKeeper({ maxPages }: ProcessLimits): () => void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const enough = process.memoryUsage.rss() + Math.max(maxPages * 65_536, 33_554_432);
  return () => {
    if (process.memoryUsage.rss() > enough) collect();
  };
}
