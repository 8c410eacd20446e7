/** Events that wait for the one before them. */
export interface EventQueue<Event> {
  push(event: Event): void;
  readonly length: number;
  /** Resolves with the first one, which stays until it is taken off. Rejects with the signal's reason. */
  first(signal: AbortSignal): Promise<Event>;
  shift(): void;
}

export function eventQueue<Event>(): EventQueue<Event> {
  const events: Event[] = [];
  let wake = (): void => undefined;
  return {
    push(event) {
      events.push(event);
      wake();
    },
    get length() {
      return events.length;
    },
    async first(signal) {
      while (events.length === 0) {
        signal.throwIfAborted();
        await new Promise<void>((resolve) => {
          wake = resolve;
          signal.addEventListener("abort", () => resolve(), { once: true });
        });
      }
      signal.throwIfAborted();
      return events[0]!;
    },
    shift: () => void events.shift(),
  };
}
