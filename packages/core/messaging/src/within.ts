/** Settles as `work` does, or rejects with the signal's reason when it is aborted first, whether `work` listens or not. */
export async function within<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    // The runtime keeps a signal made of others for ever while anybody listens to it.
    signal.removeEventListener("abort", onAbort);
  }
}
