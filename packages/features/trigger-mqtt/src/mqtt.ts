/** The feature: keeps a connection to the broker, and starts procedures by its messages. */
import type { Contributions, FeatureContext } from "@svc/contract";
import { randomBytes } from "node:crypto";
import type { Config } from "./config.ts";
import { Deliveries, type Message } from "./deliveries.ts";
import { DropLog } from "./drop-log.ts";
import { payloadText } from "./payload.ts";

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
  const kept = await state.get("client_id");
  if (kept !== undefined) return kept;
  const made = `svc-${randomBytes(8).toString("hex")}`;
  await state.set("client_id", made);
  return made;
}
