/** A pin of a board that is asked again and again, as the protocols of boards tell of no change by themselves. */
import { type FeatureContext, SvcError } from "@svc/contract";
import { BOARDS, type Level, type PinWatch } from "@svc/kit/hardware";

/** Between two questions. A board answers other commands meanwhile. */
const POLL_MS = 100;

/** The level now, then each one that lasted `debounceMs`. Throws BOARD_*. */
export async function* polledLevels(
  { capabilities, clock }: Pick<FeatureContext, "capabilities" | "clock">,
  alias: string,
  { pin, debounceMs, pull }: Pick<PinWatch, "pin" | "debounceMs" | "pull">,
  signal: AbortSignal,
): AsyncGenerator<Level> {
  const read = async (): Promise<Level> => {
    // A reload replaces the registry.
    const [boards] = capabilities(BOARDS);
    if (!boards) throw new SvcError("FEATURE_DOWN", "The boards are not in service.");
    return await boards.readPin(alias, pin, { pull, signal });
  };
  let last: Level | undefined;
  let next: { readonly level: Level; readonly sinceMs: number } | undefined;
  while (!signal.aborted) {
    const level = await read();
    if (level === last) next = undefined;
    else if (next?.level !== level) next = { level, sinceMs: clock.monotonic() };
    if (next && (last === undefined || clock.monotonic() - next.sinceMs >= debounceMs)) {
      last = level;
      next = undefined;
      yield level;
    }
    const restMs = next ? Math.max(1, Math.min(POLL_MS, debounceMs)) : POLL_MS;
    await clock.sleep(restMs, signal).catch(() => undefined);
  }
}
