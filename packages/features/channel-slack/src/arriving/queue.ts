/** What came in live, one after the other, behind what was missed in its conversation. */
import type { Inbound } from "@svc/contract";
import type { Keep } from "./inbox.ts";

export interface Arrival {
  /** Undefined: there is nothing in it for us. */
  readonly inbound: Inbound | undefined;
  /** Tells the platform that it is kept. Never rejects. */
  readonly confirm: () => void;
}

export interface ArrivalQueue {
  push(arrival: Arrival): void;
  /** Until `signal` ends it. Rejects when something can't be kept. */
  run(signal: AbortSignal): Promise<void>;
}

export interface QueueParts {
  readonly keep: Keep;
  /** Looks for what was missed in a conversation, before the first thing that comes in there. */
  readonly catchUp: (conversation: string, signal: AbortSignal) => Promise<void>;
}

/** One commit for all that waits, up to this many. */
const MOST_AT_ONCE = 64;

export function arrivalQueue({ keep, catchUp }: QueueParts): ArrivalQueue {
  const waiting: Arrival[] = [];
  let wake = (): void => undefined;
  return {
    push(arrival) {
      waiting.push(arrival);
      wake();
    },
    async run(signal) {
      const stop = (): void => wake();
      signal.addEventListener("abort", stop, { once: true });
      try {
        while (!signal.aborted) {
          const taken = waiting.splice(0, MOST_AT_ONCE);
          if (taken.length === 0) {
            await new Promise<void>((resolve) => (wake = resolve));
            continue;
          }
          const messages = taken.flatMap(({ inbound }) => inbound ?? []);
          for (const id of new Set(messages.map(({ conversation }) => conversation.id))) await catchUp(id, signal);
          await keep(messages, signal);
          for (const { confirm } of taken) confirm();
        }
      } finally {
        signal.removeEventListener("abort", stop);
      }
    },
  };
}
