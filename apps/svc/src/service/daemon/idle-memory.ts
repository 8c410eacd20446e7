/**
 * What the start made V8 take is given back when the start is over, and what a storm of requests made it take when the storm is over.
 * Left alone V8 keeps it: it collects when something is allocated, and an idle daemon allocates next to nothing (bench/README.md has
 * the numbers).
 */
import { performance } from "node:perf_hooks";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Clock } from "@svc/contract";
import { systemClock } from "@svc/kit/system-clock";

export interface Memory {
  /** What V8 holds of the machine's memory, in bytes. */
  held(): number;
  /** Share of the time since the last call in which the event loop had work, 0 to 1. */
  busy(): number;
  /** A full collection that also shrinks what is kept for the next objects: some 50 ms. */
  collect(): void;
}

/** Until the start's garbage is given back: each second tells whether the probe of sandboxes and the load of the model's code are over. */
const FIRST_LOOK_MS = 1_000;
const LOOK_EVERY_MS = 10_000;
/** A collection must be worth its pause. */
const WORTH_BYTES = 16 * 1024 * 1024;
/** Above it somebody would wait for the collection, and V8 has reasons of its own to collect. */
const IDLE_SHARE = 0.05;

/** Call the result to stop. */
export function giveMemoryBack(
  clock: Pick<Clock, "after"> = systemClock,
  memory: Memory = processMemory(),
): () => void {
  let least: number | undefined;
  let cancel = clock.after(FIRST_LOOK_MS, look);
  function look(): void {
    const held = memory.held();
    const isIdle = memory.busy() < IDLE_SHARE;
    if (isIdle && (least === undefined || held > least + WORTH_BYTES)) {
      memory.collect();
      least = memory.held();
    } else if (least !== undefined) least = Math.min(least, held);
    cancel = clock.after(least === undefined ? FIRST_LOOK_MS : LOOK_EVERY_MS, look);
  }
  return () => cancel();
}

export function processMemory(): Memory {
  let before = performance.eventLoopUtilization();
  let gc: ((options: { type: "major"; flavor: "last-resort" }) => void) | undefined;
  return {
    held: () => getHeapStatistics().total_physical_size,
    busy: () => {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, before);
      before = now;
      return utilization;
    },
    collect: () => {
      gc ??= exposedCollector();
      gc({ type: "major", flavor: "last-resort" });
    },
  };
}

/** The flag puts `gc` into contexts that are made after it; no other code gets to see it. */
function exposedCollector(): (options: { type: "major"; flavor: "last-resort" }) => void {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as ReturnType<typeof exposedCollector>;
  setFlagsFromString("--no-expose-gc");
  return gc;
}
