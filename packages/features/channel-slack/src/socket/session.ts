/** Socket Mode as long as it lasts: one connection after the other, without a moment between them where the platform asks for it. */
import { type FeatureContext, SvcError } from "@svc/contract";
import type { ArrivalQueue } from "../arriving/queue.ts";
import { inboundOf } from "../inbound/payload.ts";
import type { Told } from "../inbound/told.ts";
import { type Connection, type ConnectionParts, openConnection } from "./connection.ts";

export interface SessionParts {
  readonly apiUrl: string;
  readonly appToken: string;
  readonly told: Told;
  readonly queue: ArrivalQueue;
  readonly context: Pick<FeatureContext, "clock" | "fetch" | "log" | "resolve">;
}

export interface Session {
  /** Until it is lost. Rejects with REMOTE_* then, and with the signal's reason. */
  run(signal: AbortSignal): Promise<never>;
}

/** The platform may ask for another connection right after the last one. */
const LEAST_MS = 1_000;
/** An old connection may still bring what was on its way. */
const LINGER_MS = 5_000;

/** Resolves once the platform has said hello. Rejects as `openConnection`. */
export async function openSession(parts: SessionParts, signal: AbortSignal): Promise<Session> {
  const { clock, log } = parts.context;
  const connect = (): Promise<Connection> => openConnection(connectionParts(parts), signal);
  let current = await connect();
  let openedMs = clock.monotonic();
  return {
    async run(end) {
      const lingering = new Set<Connection>();
      const aborted = Promise.withResolvers<never>();
      const abort = (): void => aborted.reject(end.reason);
      aborted.promise.catch(() => undefined);
      end.addEventListener("abort", abort, { once: true });
      try {
        end.throwIfAborted();
        for (;;) {
          const why = await Promise.race([current.lost, current.leaving.then(() => undefined), aborted.promise]);
          if (why instanceof SvcError) throw why;
          log.debug("the platform asks for another connection");
          await clock.sleep(Math.max(0, openedMs + LEAST_MS - clock.monotonic()), end);
          const old = current;
          lingering.add(old);
          current = await connect();
          openedMs = clock.monotonic();
          const cancel = clock.after(LINGER_MS, () => old.close());
          void old.lost.then(() => {
            cancel();
            lingering.delete(old);
          });
        }
      } finally {
        end.removeEventListener("abort", abort);
        for (const connection of [...lingering, current]) connection.close();
      }
    },
  };
}

const connectionParts = ({ apiUrl, appToken, told, queue, context }: SessionParts): ConnectionParts => ({
  apiUrl,
  appToken,
  context,
  take: (payload, confirm) => queue.push({ inbound: inboundOf(payload, told), confirm }),
});
