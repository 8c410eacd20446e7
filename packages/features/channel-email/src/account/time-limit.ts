import { type Clock, SvcError } from "@svc/contract";
import { withTimeout } from "@svc/kit";

/** What `work` comes to. Throws the signal's reason, or REMOTE_TIMEOUT when it takes longer; the work itself goes on. */
export const within = <T>(clock: Clock, timeoutMs: number, signal: AbortSignal, work: Promise<T>): Promise<T> =>
  withTimeout({ clock, timeoutMs, signal, error: tooLate }, () => work);

const tooLate = (): SvcError => new SvcError("REMOTE_TIMEOUT", "The mail server did not answer in time.");
