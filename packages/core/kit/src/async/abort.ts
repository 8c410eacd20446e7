/** What `work` comes to. Rejects with the signal's reason when it is aborted first; the work itself goes on. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const abort = Promise.withResolvers<never>();
  const giveUp = (): void => abort.reject(signal.reason);
  signal.addEventListener("abort", giveUp, { once: true });
  try {
    return await Promise.race([work, abort.promise]);
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
}
