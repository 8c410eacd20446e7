import { type Clock, SvcError } from "@svc/contract";

/**
 * Runs `work` under one limit for everything it does: resolving, connecting, every redirect and the body. Whatever the
 * network layers throw comes out as an `SvcError`; a caller who aborted gets the own reason back.
 */
export async function withTimeLimit<T>(
  timeoutMs: number,
  callers: AbortSignal | undefined,
  clock: Pick<Clock, "after"> = timers,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  callers?.throwIfAborted();
  const limit = new AbortController();
  const cancel = clock.after(timeoutMs, () => limit.abort());
  try {
    return await work(callers ? AbortSignal.any([limit.signal, callers]) : limit.signal);
  } catch (error) {
    callers?.throwIfAborted();
    if (limit.signal.aborted) {
      throw new SvcError("REMOTE_TIMEOUT", "The remote server did not answer within the time limit.", { cause: error });
    }
    throw error instanceof SvcError ? error : new SvcError("REMOTE_UNREACHABLE", undefined, { cause: error });
  } finally {
    cancel();
  }
}

const timers: Pick<Clock, "after"> = {
  after: (delayMs, run) => {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};
