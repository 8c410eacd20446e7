import { type Clock, SvcError } from "@svc/contract";

export interface Backoff {
  /** The longest wait before the first retry. It doubles with each further one. */
  readonly firstMs: number;
  /** It doubles up to this. */
  readonly longestMs: number;
}

export interface RetryOptions extends Backoff {
  readonly clock: Pick<Clock, "sleep">;
  readonly signal: AbortSignal;
  /** Default: until it succeeds. */
  readonly maxTries?: number;
  /** Called before each wait. Throws to give up. */
  readonly onFailure?: (error: unknown, retryInMs: number) => void;
  /** 0 ≤ x < 1. */
  readonly random?: () => number;
}

/**
 * Calls `work` until it succeeds, with back-off, and no sooner than the error's `retryAfterMs`. Rejects with the last error, with what
 * `onFailure` throws, or with the signal's reason.
 */
export async function retry<T>(work: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { clock, signal, maxTries = Infinity, onFailure, random } = options;
  for (let failures = 1; ; failures += 1) {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      if (failures >= maxTries) throw error;
      const askedMs = error instanceof SvcError ? error.retryAfterMs : undefined;
      const delayMs = retryDelayMs(failures, options, { askedMs, ...(random && { random }) });
      onFailure?.(error, delayMs);
      await clock.sleep(delayMs, signal);
    }
  }
}

export interface RetryDelayOptions {
  /** What the other side asked for, as `Retry-After` does. The wait is never shorter, and at most a tenth longer. */
  readonly askedMs?: number | undefined;
  /** 0 ≤ x < 1. */
  readonly random?: () => number;
}

/** A longer wait that the other side asks for is cut: the value may be anything. */
const LONGEST_ASKED_MS = 86_400_000;

/**
 * Milliseconds to wait after `failures` failures in a row (from 1): full jitter, uniform between 0 and a ceiling that doubles. Clients that
 * failed together return spread over the whole time, and not in a second wave. Needs no least wait: short ones in a row are as rare as
 * the ceilings are long. A wait that was asked for is spread too, upwards: all clients were asked for the same one.
 * https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
 */
export function retryDelayMs(
  failures: number,
  { firstMs, longestMs }: Backoff,
  { askedMs = 0, random = randomFraction }: RetryDelayOptions = {},
): number {
  const fraction = random();
  const ceilingMs = Math.min(longestMs, firstMs * 2 ** Math.min(Math.max(0, failures - 1), 30));
  const leastMs = Number.isFinite(askedMs) ? Math.min(askedMs, LONGEST_ASKED_MS) * (1 + fraction / 10) : 0;
  return Math.round(Math.max(leastMs, fraction * ceilingMs));
}

/** Not Math.random, which is predictable: the jitter of one client would tell that of others. Runs in browsers too. */
const randomFraction = (): number => crypto.getRandomValues(new Uint32Array(1))[0]! / 2 ** 32;
