/** The channel's loop in the mode "websocket": events are stored in their order, and acknowledged once they are on disk. */
import { type FeatureContext, type Inbound, SvcError } from "@svc/contract";
import { asFinal, retry, unlessAborted } from "@svc/kit";
import type { Config } from "./config.ts";
import { openConnection } from "./connection.ts";
import { inboundOf, type Reader } from "./events.ts";

interface Arrival {
  readonly inbound: Inbound | undefined;
  readonly acknowledge: () => void;
}

/** Sent again by the platform is better than held in memory. */
const MOST_WAITING = 2_000;
/** One commit for all that waits, up to this many. */
const MOST_AT_ONCE = 64;
/** After that the connection closes, and the platform delivers its events again. */
const BACKOFF = { firstMs: 500, longestMs: 8_000, maxTries: 6 };

export interface RunDeps {
  readonly context: FeatureContext<Config>;
  readonly reader: Reader;
  /** Asks the platform who the bot is. */
  readonly signIn: (signal: AbortSignal) => Promise<string>;
}

/** Throws FEATURE_FAILED for credentials that are refused, REMOTE_*, BUSY, STORE_*. Resolves when it is called off. */
export async function runConnected({ context, reader, signIn }: RunDeps, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const ending = new AbortController();
  const either = AbortSignal.any([signal, ending.signal]);
  const waiting: Arrival[] = [];
  let wake = (): void => undefined;
  const crowded = Promise.withResolvers<never>();
  crowded.promise.catch(() => undefined);
  const take = (payload: Parameters<typeof inboundOf>[0], acknowledge: () => void): void => {
    waiting.push({ inbound: inboundOf(payload, reader), acknowledge });
    if (waiting.length > MOST_WAITING) crowded.reject(new SvcError("BUSY", "Too many messages wait to be stored."));
    wake();
  };
  const storing = async (): Promise<never> => {
    for (;;) {
      either.throwIfAborted();
      if (waiting.length === 0) await unlessAborted(new Promise<void>((resolve) => (wake = resolve)), either);
      const taken = waiting.slice(0, MOST_AT_ONCE);
      await store(
        context,
        taken.flatMap(({ inbound }) => inbound ?? []),
        either,
      );
      waiting.splice(0, taken.length);
      for (const { acknowledge } of taken) acknowledge();
    }
  };
  try {
    const account = await signIn(either);
    const connection = await openConnection({ config: context.config, context, take }, either);
    try {
      context.log.info("the platform knows this channel", { account });
      const stored = storing();
      stored.catch(() => undefined);
      throw await Promise.race([connection.lost, crowded.promise, stored]);
    } finally {
      connection.close();
    }
  } catch (error) {
    if (!signal.aborted) throw asFinal(error);
  } finally {
    ending.abort(new SvcError("CANCELLED"));
    wake();
  }
}

/** Resolves once all are on disk. */
async function store(
  { receive, clock, log }: Pick<FeatureContext, "receive" | "clock" | "log">,
  messages: readonly Inbound[],
  signal: AbortSignal,
): Promise<void> {
  if (messages.length === 0) return;
  const onFailure = (error: unknown, retryInMs: number): void => {
    const reason = error instanceof SvcError ? error.code : "unknown";
    log.warn("messages could not be stored; will retry", { reason, retryInMs });
  };
  await retry(() => unlessAborted(receive(messages), signal), { ...BACKOFF, clock, signal, onFailure });
}
