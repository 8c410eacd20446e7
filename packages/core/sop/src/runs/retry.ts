/**
 * A new run that goes on from a step of an earlier one. It takes over the results of the steps before. A step that may have acted in
 * an earlier run has a gate in this one, whatever the mode: nothing is done twice unless a person says so.
 */
import { isDeepStrictEqual } from "node:util";
import { type Json, SvcError } from "@svc/contract";
import type { SopRun, SopStepRow } from "@svc/store";
import type { SopStep, SopTriggerEvent } from "../library/types.ts";
import { beginRun, refusalOf } from "./begin.ts";
import { type RunDeps, commit } from "./deps.ts";
import { definitionOf, stepTurnId } from "./definition.ts";
import { runUnknown, sopNamed } from "./dispatch.ts";
import type { SopRetry, Starter } from "./types.ts";

/** Throws SOP_RUN_UNKNOWN, SOP_RUN_ACTIVE, SOP_RETRY_REFUSED, SOP_UNKNOWN, SOP_INVALID, SOP_DISABLED, SOP_BUSY, STORE_*. */
export async function retryRun(deps: RunDeps, id: string, firstStep: number, starter: Starter): Promise<SopRetry> {
  const { store, library } = deps;
  const old = store.sopRuns.read(id);
  if (!old) throw runUnknown();
  if (old.endedAtMs === undefined) {
    throw new SvcError("SOP_RUN_ACTIVE", undefined, { hint: "Wait for its end, or end it with: svc sop cancel" });
  }
  const { definition } = sopNamed(library, old.sop);
  const rows = new Map(store.sopRuns.steps.of(old.n).map((row) => [row.step, row]));
  checkTakenOver(definition.steps, old, rows, firstStep);
  const before = definitionOf(old).steps;
  const steps = definition.steps.map((step, index): SopStep => {
    const actedIn = earlierAct(deps, old, before[index], rows.get(index + 1));
    return actedIn === undefined ? step : { ...step, actedIn };
  });
  const event: SopTriggerEvent = {
    source: old.source as SopTriggerEvent["source"],
    topic: old.topic,
    payload: old.payload,
  };
  const run = await commit(store, (after) => {
    const origin = { isTest: old.isTest, retry: { of: old.id, firstStep } };
    const begun = beginRun(deps, { ...definition, steps }, event, starter, after, origin);
    if (typeof begun !== "string") store.sopRuns.steps.takeOver(old.n, begun.n, firstStep);
    return begun;
  });
  if (typeof run === "string") throw refusalOf(run);
  const asks = steps.filter(({ number, actedIn }) => number >= firstStep && actedIn !== undefined);
  return { run, asks: asks.map(({ number }) => number) };
}

/** A result is taken over only for the step that gave it. */
function checkTakenOver(
  steps: readonly SopStep[],
  old: SopRun,
  rows: ReadonlyMap<number, SopStepRow>,
  firstStep: number,
): void {
  if (!steps[firstStep - 1]) {
    throw refused(`The procedure ${old.sop} has no step ${firstStep}; it has ${steps.length}.`);
  }
  const before = definitionOf(old).steps;
  for (let number = 1; number < firstStep; number += 1) {
    if (rows.get(number)?.status !== "completed") throw refused(`Step ${number} has no finished result to take over.`);
    const { actedIn: _, ...was } = before[number - 1]!;
    if (!isDeepStrictEqual(was, JSON.parse(JSON.stringify(steps[number - 1])) as Json)) {
      throw refused(`Step ${number} of the procedure has changed since, so its result is not taken over.`);
    }
  }
}

const refused = (message: string): SvcError =>
  new SvcError("SOP_RETRY_REFUSED", message, { hint: "Retry from an earlier step, or start a new run." });

const DAY_MS = 86_400_000;

/** In which run the step may have acted; undefined: in none. */
function earlierAct(
  { store, clock }: RunDeps,
  old: SopRun,
  step: SopStep | undefined,
  row: SopStepRow | undefined,
): string | undefined {
  if (step?.actedIn !== undefined) return step.actedIn;
  // What was taken over has acted in the run that it was taken from, which said so above.
  if (!step || !row || step.number < old.firstStep) return undefined;
  const calls = store.toolCalls.of(stepTurnId(old.id, step.number));
  if (calls.some(({ acting, state }) => acting && state !== "asked")) return old.id;
  // Retention may have dropped the calls of an old run.
  const isForgotten = calls.length === 0 && clock.now() - row.startedAtMs > DAY_MS;
  return isForgotten && (step.tools.length > 0 || step.call) ? old.id : undefined;
}
