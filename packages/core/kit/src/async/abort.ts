/**
 * What `work` comes to. Rejects with the signal's reason when it is aborted first; the work itself goes on. A function is not called when
 * the signal is aborted already.
 */
export async function unlessAborted<T>(work: Promise<T> | (() => T | Promise<T>), signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const abort = Promise.withResolvers<never>();
  const giveUp = (): void => abort.reject(signal.reason);
  signal.addEventListener("abort", giveUp, { once: true });
  try {
    return await Promise.race([typeof work === "function" ? work() : work, abort.promise]);
  } finally {
    // The runtime keeps a signal that is made of others for as long as it has a listener.
    signal.removeEventListener("abort", giveUp);
  }
}
