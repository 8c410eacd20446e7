/** Procedures and runs as people ask for them. */
import { SvcError } from "@svc/contract";
import type { LoadedSop } from "../library/types.ts";
import type { CronSchedule } from "../triggers/cron-schedule.ts";
import type { RunDeps } from "./deps.ts";
import type { SopRunDetail, SopRunFilter, SopRunPage, SopSummary } from "./types.ts";

export function summaryOf({ store }: RunDeps, cron: Pick<CronSchedule, "nextAtMs">, loaded: LoadedSop): SopSummary {
  const { name, triggers } = loaded.definition;
  const nextAtMs = triggers
    .filter((trigger) => trigger.type === "cron")
    .map(({ expression, timezone }) => cron.nextAtMs({ sop: name, expression, timezone }));
  const { sopRuns } = store;
  return { ...loaded, activeRuns: sopRuns.countActive(name), lastRun: sopRuns.newest(name), nextAtMs };
}

export function pageOfRuns({ store }: RunDeps, filter: SopRunFilter, limit: number): SopRunPage {
  const runs = store.sopRuns.list(filter, limit + 1);
  const shown = runs.slice(0, limit);
  return { runs: shown, next: runs.length > limit ? shown.at(-1)!.n : undefined };
}

export const runUnknown = (): SvcError => new SvcError("SOP_RUN_UNKNOWN", undefined, { hint: "See: svc sop runs" });

/** Throws SOP_RUN_UNKNOWN. */
export function detailOf({ store }: RunDeps, id: string): SopRunDetail {
  const run = store.sopRuns.read(id);
  if (!run) throw runUnknown();
  return { run, steps: store.sopRuns.steps.of(run.n) };
}
