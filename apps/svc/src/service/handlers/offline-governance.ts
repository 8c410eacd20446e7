/** Procedures and approvals of a service that does not run. */
import { createRedactor, editConfigFile, loadConfig } from "@svc/config";
import type { Json } from "@svc/contract";
import { systemClock } from "@svc/kit/system-clock";
import { createLogger } from "@svc/runtime";
import type { Approval, Store } from "@svc/store";
import type { Handlers } from "../control.ts";
import { AlwaysRules } from "../governance/always-rules.ts";
import { approversOf, targetsOf } from "../governance/channel-section.ts";
import { checkProcedures, openLibrary, sopAuthor } from "../governance/procedures.ts";
import { offlineEngine } from "../governance/offline-engine.ts";
import { approvalHandlers, auditHandlers } from "./approvals.ts";
import type { OfflineOptions } from "./call-here.ts";
import { sopHandlers } from "./sops.ts";

/** Throws what loading the config throws. */
export async function offlineGovernance(
  store: Store,
  { home, config: options }: Required<OfflineOptions>,
): Promise<Partial<Handlers>> {
  const config = await loadConfig({ home, ...options });
  const { redact } = createRedactor(config.secrets());
  const log = createLogger({ level: "error", write: () => {}, json: true, clock: systemClock });
  const library = await openLibrary({ home, log }, () => config);
  const rules = new AlwaysRules({
    store,
    audit: () => sops.audit,
    config: () => config,
    edit: (change) => editConfigFile({ home, ...options }, change),
    // The next start reads it.
    reload: async () => {},
  });
  const keepRule = (rule: Json, answered: Approval): Promise<void> => rules.keep(rule, answered);
  const offlineRules = {
    approversOf: (channel: string) => approversOf(config, channel),
    places: () => targetsOf(config),
    expireMs: config.core.approvals.expire_secs * 1000,
    maxConcurrentTotal: config.core.sop.max_concurrent_total,
  };
  const { approvals, sops } = offlineEngine({ store, log, redact, library, rules: offlineRules, keepRule });
  const author = sopAuthor({
    home,
    config: () => config,
    tools: () => undefined,
    library,
    store,
    audit: () => sops.audit,
    redact,
  });
  return {
    ...approvalHandlers(approvals, rules),
    // Which tools there are is known only to a service that runs.
    ...sopHandlers({ sops, author, approvals, events: undefined, check: () => checkProcedures({ home }, config) }),
    ...auditHandlers(sops.audit),
  };
}
