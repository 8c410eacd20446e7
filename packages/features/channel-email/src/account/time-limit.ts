import { type Clock, SvcError } from "@svc/contract";
import { unlessAborted } from "@svc/kit";

/** What `work` comes to. Throws the signal's reason, or REMOTE_TIMEOUT when it takes longer; the work itself goes on. */
export async function within<T>(clock: Clock, limitMs: number, signal: AbortSignal, work: Promise<T>): Promise<T> {
  const over = new AbortController();
  const limit = clock.sleep(limitMs, AbortSignal.any([signal, over.signal])).then(() => {
    throw new SvcError("REMOTE_TIMEOUT", "The mail server did not answer in time.");
  });
  limit.catch(() => undefined);
  try {
    return await Promise.race([unlessAborted(work, signal), limit]);
  } finally {
    over.abort();
  }
}
