/** Waiting for what comes by real sockets, while the clock that a channel is handed stands still or runs on. */
import type { FakeClock } from "../../fake-clock.ts";

/** Turns of the event loop in which nothing but sockets goes on; most of what is waited for comes by then. */
const QUICK_LAPS = 50;
/** Real time between two looks after that. */
const LAP_MS = 4;
/** What the channel's clock does meanwhile: pauses and back-offs end, and no limit of 30 s is over at once. */
const STEP_MS = 250;
const LONG_STEP_MS = 1_000;
const LONG_AFTER_LAPS = 150;
/** A machine that slept has not waited. */
const LEAST_LAPS = 150;

/** Resolves with true as soon as it is so; with false when it still is not after `limitMs`, which only what hangs takes. */
export async function until(
  clock: FakeClock,
  isSo: () => boolean,
  limitMs: number,
  leastLaps: number = LEAST_LAPS,
): Promise<boolean> {
  const endsAt = performance.now() + limitMs;
  for (let lap = 0; !isSo(); lap += 1) {
    if (lap < QUICK_LAPS) {
      await new Promise((resolve) => setImmediate(resolve));
      continue;
    }
    if (lap > leastLaps && performance.now() > endsAt) return false;
    await pause();
    await clock.advance(lap < LONG_AFTER_LAPS ? STEP_MS : LONG_STEP_MS);
  }
  return true;
}

/**
 * Long enough for whatever is under way to show. It decides only whether what is wrong is seen: what is right is right
 * however fast it goes.
 */
export async function afterAWhile(clock?: FakeClock): Promise<void> {
  for (let lap = 0; lap < 25; lap += 1) {
    await pause();
    await clock?.advance(20_000);
  }
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, LAP_MS));
