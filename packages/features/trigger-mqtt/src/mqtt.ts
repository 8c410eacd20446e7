/** The feature: keeps a connection to the broker, and starts procedures by its messages. */
import type { Clock, Contributions, FeatureContext, Logger } from "@svc/contract";
import { randomBytes } from "node:crypto";
import type { Config } from "./config.ts";
import { Deliveries, type Message } from "./deliveries.ts";

export function create(context: FeatureContext<Config>): Contributions {
  const { config, clock, log, state } = context;
  const drops = new DropLog(log, clock);
  return {
    async run(signal) {
      const { follow } = await import("./connection.ts");
      const deliveries = new Deliveries(state, clock);
      await deliveries.prune();
      const clientId = config.client_id ?? (await keptClientId(context));
      await follow(
        {
          config,
          clock,
          state,
          resolve: (url) => context.resolve(url),
          clientId,
          deliveries,
          handle: (message, tooLarge) => handle(context, { deliveries, drops }, message, tooLarge),
          onSubscribed: () => log.info("connected to the MQTT broker", { clientId, topics: config.topics.length }),
        },
        signal,
      );
    },
  };
}

/** Rejects with STORE_*: then the broker sends the message again. */
async function handle(
  { trigger, log }: Pick<FeatureContext, "trigger" | "log">,
  { deliveries, drops }: { readonly deliveries: Deliveries; readonly drops: DropLog },
  message: Message,
  tooLarge: number | undefined,
): Promise<void> {
  const { topic, payload } = message;
  if (tooLarge !== undefined) return drops.dropped("payload larger than 1 MiB", { bytes: tooLarge });
  // The topic is stored and displayed: it must not contain escape sequences.
  if (/[\p{Cc}\u2028\u2029]/u.test(topic)) return drops.dropped("topic with control characters");
  if (await deliveries.isKnown(message)) {
    log.debug("the broker repeated a message that was taken before", { topic });
    return;
  }
  const event = { source: "mqtt", topic, payload: payloadText(payload) } as const;
  const { fits, skipped } = await trigger(event, { state: deliveries.next(message) });
  if (fits) deliveries.taken(message);
  for (const { sop, reason } of skipped) drops.dropped(reason, { sop });
}

/** The broker keeps the session by this name: another one at each start would lose what was sent meanwhile. */
async function keptClientId({ state }: Pick<FeatureContext, "state">): Promise<string> {
  const stored = await state.get("client_id");
  if (stored !== undefined) return stored;
  const made = `svc-${randomBytes(8).toString("hex")}`;
  await state.set("client_id", made);
  return made;
}

// A message's payload as the JSON text that conditions and steps see.

/** JSON as it is, other text as a JSON string, bytes that are no text as `{"base64":"…"}`; null for none. */
export function payloadText(payload: Uint8Array): string | null {
  if (payload.length === 0) return null;
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(payload);
    return isJson(text) ? text : JSON.stringify(text);
  } catch {
    return JSON.stringify({ base64: Buffer.from(payload).toString("base64") });
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const QUIET_MS = 60_000;

/** Messages that started nothing, by reason: the first at once, then their count once a minute, however many come. */
class DropLog {
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #counts = new Map<string, { unreported: number; nextMs: number }>();

  constructor(log: Logger, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  /** `reason`: one of a few texts of ours. */
  dropped(reason: string, fields: Readonly<Record<string, string | number>> = {}): void {
    const nowMs = this.#clock.monotonic();
    const count = this.#counts.get(reason) ?? { unreported: 0, nextMs: -Infinity };
    this.#counts.set(reason, count);
    count.unreported += 1;
    if (nowMs < count.nextMs) return;
    this.#log.warn("messages started no procedure", { reason, messages: count.unreported, ...fields });
    count.unreported = 0;
    count.nextMs = nowMs + QUIET_MS;
  }
}
