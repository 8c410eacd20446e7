/** Time is an argument: tests hand in their own. */
export interface Clock {
  /** Wall clock, milliseconds since the epoch. May jump. */
  now(): number;
  /** Monotonic milliseconds. Never jumps; the origin means nothing. */
  monotonic(): number;
  /** Calls `run` once after `delayMs`; the result cancels it. Never keeps the process alive by itself. */
  after(delayMs: number, run: () => void): () => void;
  /** Resolves after `ms`; rejects with the signal's reason when it is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
