/** Procedures and their runs, put together. */
import { createAuditLog } from "../audit/audit-log.ts";
import { auditLines } from "../audit/audit-lines.ts";
import type { OnRequested, OnSettled } from "../approvals/types.ts";
import type { CronSchedule, DueCron } from "../triggers/cron-schedule.ts";
import { pendingOf } from "./after-commit.ts";
import { cancelByPerson } from "./cancel.ts";
import { dispatchIn, runByName, sopNamed, startIn } from "./dispatch.ts";
import { abandon, drive } from "./drive.ts";
import { Drivers } from "./drivers.ts";
import { detailOf, pageOfRuns, summaryOf } from "./lists.ts";
import type { RunParts } from "./parts.ts";
import { settleIn } from "./settle.ts";
import { shownWithout } from "./shown.ts";
import { takeUp } from "./take-up.ts";
import { testRun } from "./test-run.ts";
import type { Sops } from "./types.ts";

/** `approvals` are made with the hooks of what comes back here. */
export interface SopsOptions extends Omit<RunParts, "lines" | "wake"> {
  readonly cron: CronSchedule;
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
  const shown = shownWithout(redact);
  const parts: RunParts = { ...options, lines, wake: (runId) => drivers.wake(runId) };
  const drivers = new Drivers({
    clock,
    drive: (one) => drive(parts, one),
    afterCancel: (runId) => abandon(parts, runId),
  });
  const dispatch: Sops["dispatch"] = async (event, starter) => {
    const { result, committed } = await store.write(() => dispatchIn(parts, event, starter));
    committed();
    return result;
  };
  return {
    audit,
    hasPath: (path) => library.hasPath(path),
    fits: (event) => library.matching(event).length > 0,
    dispatch,
    dispatchIn: (event, starter) => dispatchIn(parts, event, starter),
    run: (name, payload, starter) => runByName(parts, name, payload, starter),
    test: (name, sample, starter) => testRun(parts, name, sample, starter),
    retry: async (id, step, starter) => {
      const { retryRun } = await import("./retry.ts");
      return retryRun(parts, id, step, starter);
    },
    async calendar(days, sop) {
      const { calendarOf } = await import("../triggers/calendar.ts");
      return calendarOf({ library, cron, nowMs: clock.now(), days, sop });
    },
    list: () => library.list().map((loaded) => shown.summary(summaryOf(parts, cron, loaded))),
    broken: () => library.broken().map(shown.broken),
    show: (name) => shown.summary(summaryOf(parts, cron, sopNamed(library, name))),
    runs: (filter, limit) => shown.page(pageOfRuns(parts, filter, limit)),
    hasRun: (id) => store.sopRuns.has(id),
    readRun: (id) => shown.detail(detailOf(parts, id)),
    async cancel(id, by) {
      const run = await cancelByPerson(parts, id, by);
      drivers.cancel(id, "The run was cancelled.");
      return run;
    },
    reload: () => library.reload(),
    start() {
      drivers.start();
      void takeUp(parts);
      library.onChange(() => options.publish({ type: "sop-change" }));
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
