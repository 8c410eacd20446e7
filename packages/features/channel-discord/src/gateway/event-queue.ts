/** Events that wait for the one before them, until `signal` is aborted. */
export interface EventQueue<Event> {
  push(event: Event): void;
  readonly length: number;
  /** Resolves with the first one, which stays until it is taken off. Rejects with the signal's reason. */
  first(): Promise<Event>;
  shift(): void;
}

export function eventQueue<Event>(signal: AbortSignal): EventQueue<Event> {
  const events: Event[] = [];
  let wake = (): void => undefined;
  // Once for all of them: one for each wait would stay as long as the connection.
  signal.addEventListener("abort", () => wake(), { once: true });
  return {
    push(event) {
      events.push(event);
      wake();
    },
    get length() {
      return events.length;
    },
    async first() {
      while (events.length === 0 && !signal.aborted) await new Promise<void>((resolve) => (wake = resolve));
      signal.throwIfAborted();
      return events[0]!;
    },
    shift: () => void events.shift(),
  };
}
