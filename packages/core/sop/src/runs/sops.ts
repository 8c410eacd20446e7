/** Procedures and their runs, put together. */
import type { Clock, Conversation, Logger, SvcEvent } from "@svc/contract";
import type { Store } from "@svc/store";
import { createAuditLog } from "../audit/audit-log.ts";
import { auditLines } from "../audit/audit-lines.ts";
import type { Approvals, OnRequested, OnSettled } from "../approvals/types.ts";
import type { SopLibrary } from "../library/types.ts";
import type { CronSchedule, DueCron } from "../triggers/cron-schedule.ts";
import { pendingOf } from "./after-commit.ts";
import { cancelByPerson } from "./cancel.ts";
import { dispatchIn, runByName, sopNamed, startIn } from "./dispatch.ts";
import { abandon, drive } from "./drive.ts";
import { Drivers } from "./drivers.ts";
import { detailOf, pageOfRuns, summaryOf } from "./lists.ts";
import type { RunParts, SopSettings } from "./parts.ts";
import { settleIn } from "./settle.ts";
import { takeUp } from "./take-up.ts";
import type { Sops, StepWorker } from "./types.ts";

export interface SopsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly publish: (event: SvcEvent) => void;
  readonly library: SopLibrary;
  /** Made with the hooks of what comes back here. */
  readonly approvals: Pick<Approvals, "requestIn" | "cancelIn" | "get">;
  readonly worker: StepWorker;
  readonly cron: CronSchedule;
  /** As they are now. */
  readonly settings: () => SopSettings;
  /** Where the questions of gates are posted. */
  readonly places: () => readonly Conversation[];
  /** Takes the configured secrets out of what people are shown, and of the audit log. */
  readonly redact: (text: string) => string;
}

export interface SopEngine extends Sops {
  /** For `createApprovals`. */
  readonly onSettled: OnSettled;
  readonly onRequested: OnRequested;
}

export function createSops(options: SopsOptions): SopEngine {
  const { store, clock, library, cron, redact } = options;
  const audit = createAuditLog({ store, redact });
  const lines = auditLines(audit);
  const parts: RunParts = { ...options, lines, wake: (runId) => drivers.wake(runId) };
  const drivers = new Drivers({
    clock,
    drive: (one) => drive(parts, one),
    afterCancel: async (runId) => {
      const run = store.sopRuns.read(runId);
      if (run) await abandon(parts, run);
    },
  });
  const dispatch: Sops["dispatch"] = async (event, starter) => {
    const { result, committed } = await store.write(() => dispatchIn(parts, event, starter));
    committed();
    return result;
  };
  return {
    audit,
    hasPath: (path) => library.hasPath(path),
    dispatch,
    dispatchIn: (event, starter) => dispatchIn(parts, event, starter),
    run: (name, payload, starter) => runByName(parts, name, payload, starter),
    list: () => library.list().map((loaded) => summaryOf(parts, cron, loaded)),
    broken: () => library.broken(),
    show: (name) => summaryOf(parts, cron, sopNamed(library, name)),
    runs: (filter, limit) => pageOfRuns(parts, filter, limit),
    hasRun: (id) => store.sopRuns.has(id),
    readRun: (id) => detailOf(parts, id),
    async cancel(id, by) {
      const run = await cancelByPerson(parts, id, by);
      drivers.cancel(id, "The run was cancelled.");
      return run;
    },
    reload: () => library.reload(),
    start() {
      drivers.start();
      void takeUp(parts);
      library.watch();
      cron.start((due) => fire(parts, due));
    },
    async stop(graceMs) {
      cron.stop();
      library.stop();
      await drivers.stop(graceMs);
    },
    onSettled(approval) {
      return pendingOf((after) => {
        lines.approvalAnswer(approval);
        settleIn(parts, approval, after);
      }).committed;
    },
    onRequested: (approval) => lines.approvalRequest(approval),
  };
}

/** Rejects with STORE_*: then it is due still. */
async function fire(parts: RunParts, { sop, expression, noteIn }: DueCron): Promise<void> {
  const { library, store, log } = parts;
  const event = { source: "cron", topic: expression, payload: null } as const;
  const starter = { by: `cron ${expression}` };
  // By name: two procedures may have the same expression in two time zones.
  const definitions = library.matching(event).filter(({ name }) => name === sop);
  const { result, committed } = await store.write(() => {
    noteIn();
    return startIn(parts, definitions, event, starter);
  });
  committed();
  for (const { reason } of result.skipped) log.info("a procedure was due and did not start", { sop, reason });
}
