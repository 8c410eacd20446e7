import { type Clock, SvcError } from "@svc/contract";
import { runtimeTimers } from "../async/timeout.ts";
import { unreachable } from "./unreachable.ts";

/**
 * Runs `work` under one limit for everything it does: resolving, connecting, every redirect and the body. Errors of the
 * network layers become an `SvcError`; the reason of the caller's abort and the caller's own errors pass unchanged.
 */
export async function withTimeLimit<T>(
  timeoutMs: number,
  callers: AbortSignal | undefined,
  clock: Pick<Clock, "after"> = runtimeTimers,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  callers?.throwIfAborted();
  const limit = new AbortController();
  const cancel = clock.after(timeoutMs, () => limit.abort());
  try {
    return await work(callers ? AbortSignal.any([limit.signal, callers]) : limit.signal);
  } catch (error) {
    callers?.throwIfAborted();
    if (error instanceof CallersError) throw error.error;
    if (limit.signal.aborted) {
      throw new SvcError("REMOTE_TIMEOUT", "The remote server did not answer within the time limit.", { cause: error });
    }
    throw error instanceof SvcError ? error : unreachable(error);
  } finally {
    cancel();
  }
}

/** What the caller's own code threw in the middle of a request: a full disk is not the remote server's doing. */
export class CallersError {
  readonly error: unknown;
  constructor(error: unknown) {
    this.error = error;
  }
}
