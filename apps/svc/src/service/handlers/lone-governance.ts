/** Procedures and approvals of a service that does not run. */
import type { ControlHandlers } from "@svc/gateway/control";
import { createLogger, createRedactor, loadConfig, systemClock } from "@svc/kernel";
import type { Store } from "@svc/store";
import { approversOf, targetsOf } from "../governance/channel-section.ts";
import { checkProcedures, openLibrary } from "../governance/library.ts";
import { loneEngine } from "../governance/lone-engine.ts";
import { approvalHandlers } from "./approvals.ts";
import { auditHandlers } from "./audit.ts";
import type { Place } from "./place.ts";
import { sopHandlers } from "./sops.ts";

/** Throws what loading the config throws. */
export async function loneGovernance(
  store: Store,
  { home, config: options }: Required<Place>,
): Promise<ControlHandlers> {
  const config = await loadConfig({ home, ...options });
  const { redact } = createRedactor(config.secrets());
  const log = createLogger({ level: "error", write: () => {}, json: true, clock: systemClock });
  const library = await openLibrary({ home, log }, () => config);
  const rules = {
    approversOf: (channel: string) => approversOf(config, channel),
    places: () => targetsOf(config),
    expireMs: config.core.approvals.expire_secs * 1000,
    maxConcurrentTotal: config.core.sop.max_concurrent_total,
  };
  const { approvals, sops } = loneEngine({ store, log, redact, library, rules });
  return {
    ...approvalHandlers(approvals),
    // Which tools there are is known only to a service that runs.
    ...sopHandlers({ sops, approvals, events: undefined, check: () => checkProcedures({ home }, config) }),
    ...auditHandlers(sops.audit),
  };
}
