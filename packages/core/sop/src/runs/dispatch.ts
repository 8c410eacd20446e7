/** Events meet the procedures that wait for them. */
import { SvcError } from "@svc/contract";
import type { SopRun } from "@svc/store";
import type { Pending } from "../approvals/types.ts";
import type { LoadedSop, Priority, SopDefinition, SopTriggerEvent } from "../library/types.ts";
import { beginRun, refusalOf } from "./begin.ts";
import { type RunDeps, commit, pendingOf } from "./deps.ts";
import type { Dispatched, SopRunDetail, SopRunFilter, SopRunPage, SopSummary, Starter } from "./types.ts";
import type { CronSchedule } from "../triggers/cron-schedule.ts";

/** Inside a transaction. */
export const dispatchIn = (deps: RunDeps, event: SopTriggerEvent, starter: Starter): Pending<Dispatched> =>
  startIn(deps, deps.library.matching(event), event, starter);

/** Inside a transaction: those of one procedure that its own schedule names. */
export function startIn(
  deps: RunDeps,
  definitions: readonly SopDefinition[],
  event: SopTriggerEvent,
  starter: Starter,
): Pending<Dispatched> {
  return pendingOf((after) => {
    const runs: { sop: string; runId: string }[] = [];
    const skipped: { sop: string; reason: string }[] = [];
    // Where not all may run at a time, those that matter most do.
    for (const definition of definitions.toSorted((one, other) => RANK[one.priority] - RANK[other.priority])) {
      const sop = definition.name;
      const begun = beginRun(deps, definition, event, starter, after);
      if (typeof begun === "string") skipped.push({ sop, reason: begun });
      else runs.push({ sop, runId: begun.id });
    }
    return { runs, skipped };
  });
}

const RANK: Readonly<Record<Priority, number>> = { critical: 0, high: 1, normal: 2, low: 3 };

/** By name. Throws SOP_UNKNOWN, SOP_INVALID, SOP_NOT_MANUAL, SOP_BUSY, TOO_LARGE; rejects with STORE_*. */
export async function runByName(
  deps: RunDeps,
  name: string,
  payload: string | null,
  starter: Starter,
): Promise<SopRun> {
  const { library, store } = deps;
  // Of a call that is made again the files may be others by now.
  const before = starter.key === undefined ? undefined : store.sopRuns.byKey(starter.key);
  if (before) return before;
  const { definition } = sopNamed(library, name);
  if (definition.triggers.every(({ type }) => type !== "manual")) {
    throw new SvcError("SOP_NOT_MANUAL", undefined, { hint: 'Add [[triggers]] with type = "manual" to its SOP.toml.' });
  }
  const event: SopTriggerEvent = { source: "manual", topic: name, payload };
  if (!library.matching(event).some((one) => one.name === name)) {
    const hint = "To see what it requires: svc sop show";
    throw new SvcError("SOP_BUSY", "The condition of its manual trigger is not met by this payload.", { hint });
  }
  const begun = await commit(store, (after) => beginRun(deps, definition, event, starter, after));
  if (typeof begun === "string") throw refusalOf(begun);
  return begun;
}

/** Throws SOP_UNKNOWN, SOP_INVALID. */
export function sopNamed(library: RunDeps["library"], name: string): LoadedSop {
  const loaded = library.get(name);
  if (loaded) return loaded;
  const broken = library.broken().find((one) => one.name === name);
  if (broken) throw new SvcError("SOP_INVALID", broken.problem, { hint: "All that is wrong: svc sop validate" });
  throw new SvcError("SOP_UNKNOWN", undefined, { hint: "See: svc sop list" });
}

/** Procedures and runs as people ask for them. */
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
