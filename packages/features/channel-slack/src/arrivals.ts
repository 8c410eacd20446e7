/** Live arrivals: stored one after the other, behind what was missed in their conversation, and acknowledged only then. */
import { type FeatureContext, type Inbound, SvcError } from "@svc/contract";
import { retry, unlessAborted } from "@svc/kit";

export interface Arrival {
  /** Undefined: there is nothing in it for us. */
  readonly inbound: Inbound | undefined;
  /** Acknowledges it to the platform, once it is stored. Never rejects. */
  readonly confirm: () => void;
}

export interface ArrivalQueue {
  push(arrival: Arrival): void;
  /** Until `signal` ends it. Rejects when messages can't be stored. */
  run(signal: AbortSignal): Promise<void>;
}

interface QueueDeps {
  readonly keep: Keep;
  /** Looks for what was missed in a conversation, before the first thing that comes in there. */
  readonly catchUp: (conversation: string, signal: AbortSignal) => Promise<void>;
}

/** One commit for all that waits, up to this many. */
const MOST_AT_ONCE = 64;

export function arrivalQueue({ keep, catchUp }: QueueDeps): ArrivalQueue {
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

/** Resolves once all are on disk, in their order. Rejects with what the inbox last refused them for, or the signal's reason. */
export type Keep = (messages: readonly Inbound[], signal: AbortSignal) => Promise<void>;

/** Half a minute in all; then the connection closes, and the platform delivers its events again. */
const BACKOFF = { firstMs: 1_000, longestMs: 15_000, maxTries: 6 };

export function keeper({ receive, clock, log }: Pick<FeatureContext, "receive" | "clock" | "log">): Keep {
  return async (messages, signal) => {
    if (messages.length === 0) return;
    const onFailure = (error: unknown, retryInMs: number): void => {
      const reason = error instanceof SvcError ? error.code : "unknown";
      log.warn("messages could not be stored; will retry", { reason, retryInMs });
    };
    await retry(() => unlessAborted(receive(messages), signal), { ...BACKOFF, clock, signal, onFailure });
  };
}
