import { type FeatureContext, SvcError } from "@svc/contract";

const FIRST_MS = 500;
const LONGEST_MS = 30_000;

/** Tries until it is done: the platform does not say twice what is lost here. Rejects with the signal's reason. */
export async function kept(
  { clock, log }: Pick<FeatureContext, "clock" | "log">,
  keep: () => Promise<unknown>,
  signal: AbortSignal,
): Promise<void> {
  for (let waitMs = FIRST_MS; ; waitMs = Math.min(LONGEST_MS, waitMs * 2)) {
    signal.throwIfAborted();
    try {
      await keep();
      return;
    } catch (error) {
      signal.throwIfAborted();
      const code = error instanceof SvcError ? error.code : "INTERNAL";
      log.warn("a message can't be kept yet; what follows waits for it", { code });
      const askedMs = error instanceof SvcError ? (error.retryAfterMs ?? 0) : 0;
      await clock.sleep(Math.max(waitMs, askedMs), signal);
    }
  }
}
