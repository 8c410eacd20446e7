/** Polls a pin, because the board protocols don't report changes. */
import { type FeatureContext, SvcError } from "@svc/contract";
import { BOARDS, type Level, type PinWatch } from "@svc/kit/hardware";

/** Between two questions. A board answers other commands meanwhile. */
const POLL_MS = 100;

interface PollOptions {
  /** The level that was dealt with last, also before a restart. */
  before(): Promise<Level | undefined>;
  readonly signal: AbortSignal;
}

/** The level now, then each one that lasted `debounceMs`. Throws BOARD_*. */
export async function* polledLevels(
  { capabilities, clock }: Pick<FeatureContext, "capabilities" | "clock">,
  alias: string,
  { pin, debounceMs, pull, analog }: Pick<PinWatch, "pin" | "debounceMs" | "pull" | "analog">,
  { before, signal }: PollOptions,
): AsyncGenerator<Level> {
  // What a reading just below the threshold is taken for.
  let held = analog ? await before() : undefined;
  const read = async (): Promise<Level> => {
    // A reload replaces the registry.
    const [boards] = capabilities(BOARDS);
    if (!boards) throw new SvcError("FEATURE_DOWN", "The boards are not in service.");
    if (!analog) return await boards.readPin(alias, pin, { pull, signal });
    const reading = await boards.readAnalog(alias, pin, signal);
    if (reading >= analog.above) return 1;
    return held === 1 && reading >= analog.above - analog.hysteresis ? 1 : 0;
  };
  let last: Level | undefined;
  let next: { readonly level: Level; readonly sinceMs: number } | undefined;
  while (!signal.aborted) {
    const level = await read();
    if (level === last) next = undefined;
    else if (next?.level !== level) next = { level, sinceMs: clock.monotonic() };
    if (next && (last === undefined || clock.monotonic() - next.sinceMs >= debounceMs)) {
      last = level;
      held = level;
      next = undefined;
      yield level;
    }
    const restMs = next ? Math.max(1, Math.min(POLL_MS, debounceMs)) : POLL_MS;
    await clock.sleep(restMs, signal).catch(() => undefined);
  }
}
