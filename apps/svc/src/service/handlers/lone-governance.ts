/**
 * Procedures and approvals of a service that does not run. What is answered here is kept: the run goes on, and the channels
 * are told, with the next start.
 */
import { SvcError } from "@svc/contract";
import type { ControlHandlers } from "@svc/gateway/control";
import { createLogger, createRedactor, loadConfig, systemClock } from "@svc/kernel";
import { createApprovals, createCronSchedule, createSops, cronMarks, type StepWorker } from "@svc/sop";
import type { Store } from "@svc/store";
import { approversOf, targetsOf } from "../governance/channel-section.ts";
import { checkProcedures, openLibrary } from "../governance/library.ts";
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
  const shared = { store, clock: systemClock, log, redact };
  const library = await openLibrary({ home, log }, () => config);
  const approvals = createApprovals({
    ...shared,
    // Nobody listens to a process that is gone in a moment.
    publish: () => ({ id: "none-0" }),
    settings: (channel) => ({ approvers: approversOf(config, channel), maxChars: MAX_CHARS }),
    expireMs: () => config.core.approvals.expire_secs * 1000,
    wake: () => {},
    onRequested: (approval) => sops.onRequested(approval),
    onSettled: (approval) => sops.onSettled(approval),
  });
  const sops = createSops({
    ...shared,
    publish: () => {},
    library,
    approvals,
    worker: NOBODY,
    cron: createCronSchedule({ clock: systemClock, log, marks: cronMarks(store), library }),
    settings: () => ({ maxConcurrentTotal: config.core.sop.max_concurrent_total }),
    places: () => targetsOf(config),
  });
  return {
    ...approvalHandlers(approvals),
    // Which tools there are is known only to a service that runs.
    ...sopHandlers({ sops, approvals, events: undefined, check: () => checkProcedures({ home }, config) }),
    ...auditHandlers(sops.audit),
  };
}

const MAX_CHARS = 4_000;

const refuse = (): never => {
  throw new SvcError("NOT_RUNNING", undefined, { hint: "Start it with: svc daemon" });
};
const NOBODY: StepWorker = {
  turn: async () => refuse(),
  call: async () => refuse(),
  acts: refuse,
  runsCommands: refuse,
  abandon: async () => refuse(),
};
