/**
 * What the daemon is told by signals.
 *
 *   SIGTERM, SIGINT   no new work (503), running turns get daemon.drain_secs, then they are cancelled; exit 0
 *   a second one      running turns are cancelled at once
 *   SIGHUP            the config is read again
 */
export interface Signals {
  /** Resolves at the first request to stop. */
  readonly stop: Promise<void>;
  /** Whether it has come. */
  readonly stopping: boolean;
  /** Aborted at the second. */
  readonly hurry: AbortSignal;
  /** Called at SIGHUP from now on, in place of what was. */
  onReload(reload: () => void): void;
}

/** From the first call on, none of them ends the process by itself. */
export function listenToSignals(): Signals {
  const hurry = new AbortController();
  const stop = Promise.withResolvers<void>();
  // While the service starts it reads the config anyway.
  let reload = (): void => {};
  let asked = false;
  const onStop = (): void => {
    if (asked) hurry.abort();
    asked = true;
    stop.resolve();
  };
  process.on("SIGTERM", onStop);
  process.on("SIGINT", onStop);
  // On Windows it means that the console window was closed, and the system ends the process whatever we do.
  if (process.platform !== "win32") process.on("SIGHUP", () => reload());
  return {
    stop: stop.promise,
    get stopping() {
      return asked;
    },
    hurry: hurry.signal,
    onReload: (next) => (reload = next),
  };
}
