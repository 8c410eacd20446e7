/** How the parts are: `/health` in public says only whether one is not well, to a bearer and to `svc` which and why. */
import type { Health, HealthUnit } from "@svc/gateway";
import { unsignedChannels } from "../channels/channel-list.ts";
import type { Service } from "./service.ts";

export function healthOf({ lifecycle, store, config, generation }: Service): Health {
  const features: HealthUnit[] = lifecycle.features().map(({ id, state, reason }) => ({ id, state, reason }));
  const database: HealthUnit = store.writable()
    ? { id: "database", state: "running" }
    : { id: "database", state: "failed", reason: "The database can't be written; see the log." };
  const { gateway, "channels_config.webhook": webhook } = config.core;
  const open = !gateway.require_pairing && !gateway.require_signatures && !webhook.secret && !webhook.signing_secret;
  const unsigned = unsignedChannels({ generation, config });
  const sandbox = sandboxUnit(generation);
  return {
    degraded: lifecycle.degraded() || database.state === "failed" || generation.sandbox.effective === "unavailable",
    units: [database, ...(sandbox ? [sandbox] : []), ...features],
    unsigned: open ? ["webhook", ...unsigned] : unsigned,
  };
}

/** Only where it is not as it should be. A fallback is a warning as specified; that commands are refused is more than that. */
function sandboxUnit({ sandbox: { effective, warning } }: Service["generation"]): HealthUnit | undefined {
  if (warning === undefined) return undefined;
  return { id: "sandbox", state: effective === "unavailable" ? "failed" : "stopped", reason: warning };
}
