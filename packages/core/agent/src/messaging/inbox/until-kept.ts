import { type Clock, type Logger, SvcError } from "@svc/contract";

/** How often a disk that refused is asked again. */
const AGAIN_MS = 1_000;

/**
 * Does `write` until the disk takes it: what became of a message is not forgotten because it was full for a moment. Rejects
 * when `signal` is aborted, and with what is not the disk's doing.
 */
export async function untilKept<T>(
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
  messageId: string,
  signal: AbortSignal,
  write: () => Promise<T>,
): Promise<T> {
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof SvcError) || !error.code.startsWith("STORE_")) throw error;
      if (isFirst) log.error("what became of a message can't be kept yet", { messageId, code: error.code });
      await clock.sleep(AGAIN_MS, signal);
    }
  }
}
