/**
 * How long the collector wants to be left alone. The exporter waits that long when it fits into its own time, and else keeps
 * it to itself; so it is read from the answers as they come in (https://nodejs.org/api/diagnostics_channel.html#http).
 */
import { type Agent, IncomingMessage } from "node:http";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Clock } from "@svc/contract";
import { retryAfterMs } from "@svc/kit";

export interface RetryAfter {
  /** Milliseconds, of the last answer that asked for any; at most an hour. */
  readonly ms: number | undefined;
  forget(): void;
  stop(): void;
}

const CHANNEL = "http.client.response.finish";
/** A collector that names the year 2100 is tried again all the same. */
const LONGEST_MS = 3_600_000;

/** Of the answers that came over this agent. */
export function listenForRetryAfter(agent: Agent, clock: Clock): RetryAfter {
  let ms: number | undefined;
  const listener = (message: unknown): void => {
    const { request, response } = message as { request: { agent?: unknown }; response: IncomingMessage };
    if (request.agent !== agent) return;
    const asked = retryAfterMs(response.headers["retry-after"], clock.now());
    ms = asked === undefined ? undefined : Math.min(asked, LONGEST_MS);
  };
  subscribe(CHANNEL, listener);
  return {
    get ms() {
      return ms;
    },
    forget: () => {
      ms = undefined;
    },
    stop: () => void unsubscribe(CHANNEL, listener),
  };
}
