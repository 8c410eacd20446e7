/** Takes one run from where it stands on disk to where it waits or ends. */
import { isPostponed, SvcError } from "@svc/contract";
import { inScope } from "@svc/kernel";
import type { SopRun } from "@svc/store";
import { commit } from "./after-commit.ts";
import { doCall } from "./call-step.ts";
import { definitionOf, stepTurnId } from "./definition.ts";
import type { RunParts } from "./parts.ts";
import { enterStep, failRun } from "./transitions.ts";
import { doTurn } from "./turn-step.ts";

export interface Drive {
  readonly runId: string;
  /** Aborted when the run was cancelled, and when the patience of a shutdown is over. */
  readonly signal: AbortSignal;
  /** Aborted when a shutdown begins: nothing more is begun. */
  readonly stopping: AbortSignal;
}

/** A provider that is down for longer than this is a matter for a person. */
const RETRY_DELAYS_MS = [1_000, 5_000, 30_000, 120_000, 300_000] as const;
/** It may be otherwise shortly. */
const AGAIN: ReadonlySet<string> = new Set(["MODEL_UNREACHABLE", "BUSY", "DRAINING"]);
/** A full disk: nothing can be noted, not even a failure. */
const DISK_REST_MS = 5_000;

/** Never rejects. */
export async function drive(parts: RunParts, { runId, signal, stopping }: Drive): Promise<void> {
  let failures = 0;
  let at = 0;
  for (;;) {
    try {
      if (stopping.aborted) return;
      const run = parts.store.sopRuns.read(runId);
      if (run?.status !== "pending" && run?.status !== "running") return;
      if (run.step !== at) [at, failures] = [run.step, 0];
      await inScope({ traceparent: run.traceparent }, () => advance(parts, run, signal));
    } catch (error) {
      // Cancelled: the run has its end. Stopping, which a turn that waits for a person may hear of first: it goes on in the
      // next process.
      if (signal.aborted || isPostponed(error)) return;
      const restMs = restAfter(parts, error, failures);
      if (failures === 0 && restMs !== undefined) {
        parts.log.warn("a step of a procedure is tried again", {
          run: runId,
          step: at,
          code: (error as SvcError).code,
        });
      }
      failures += 1;
      if (restMs === undefined) await giveUp(parts, runId, error, stopping);
      else await rest(parts, restMs, AbortSignal.any([signal, stopping]));
    }
  }
}

async function advance(parts: RunParts, run: SopRun, signal: AbortSignal): Promise<void> {
  if (run.status === "pending") {
    return commit(parts.store, (after) => {
      if (parts.store.sopRuns.read(run.id)?.status === "pending") enterStep(parts, run, run.firstStep, after);
    });
  }
  if (definitionOf(run).mode === "deterministic") return doCall(parts, run, signal);
  return doTurn(parts, run, signal);
}

/** How long until the next try; undefined: none. */
function restAfter({ store }: RunParts, error: unknown, failures: number): number | undefined {
  if (!(error instanceof SvcError)) return undefined;
  if (error.code === "STORE_FULL") return DISK_REST_MS;
  // Where the disk takes writes, it is this one that is wrong, and stays so.
  const isDisk = error.code === "STORE_FAILED" && (!store.writable() || failures < RETRY_DELAYS_MS.length);
  if (isDisk) return DISK_REST_MS;
  if (!AGAIN.has(error.code)) return undefined;
  const delayMs = RETRY_DELAYS_MS[failures];
  return delayMs === undefined
    ? undefined
    : Math.max(delayMs, Math.min(error.retryAfterMs ?? 0, RETRY_DELAYS_MS.at(-1)!));
}

const rest = ({ clock }: RunParts, ms: number, signal: AbortSignal): Promise<void> =>
  clock.sleep(ms, signal).catch(() => {});

/** The run fails with what its step failed with. */
async function giveUp(parts: RunParts, runId: string, cause: unknown, stopping: AbortSignal): Promise<void> {
  const known = cause instanceof SvcError;
  if (!known) parts.log.error("a step of a procedure failed unexpectedly", { run: runId, error: String(cause) });
  const error = known ? cause.code : "SOP_STEP_FAILED";
  try {
    await commit(parts.store, (after) => {
      const run = parts.store.sopRuns.read(runId);
      if (run?.status !== "running" && run?.status !== "pending") return;
      const message = known ? cause.message : "It failed unexpectedly; the log has the details.";
      failRun(parts, run, { error, reason: `Step ${run.step}: ${message}` }, after);
    });
  } catch (refused) {
    // The disk: the step is tried again when it takes writes, and fails again.
    parts.log.error("the end of a run could not be kept", { run: runId, error: String(refused) });
    return rest(parts, DISK_REST_MS, stopping);
  }
  await abandon(parts, runId);
}

/**
 * What a turn of a step has left on disk that nobody takes up again; without `turnId` that of the step it ended at. A start looks
 * for those that were missed. Never rejects.
 */
export async function abandon({ store, worker, log }: RunParts, runId: string, turnId?: string): Promise<void> {
  try {
    const run = store.sopRuns.read(runId);
    if (!run) return;
    const turn = { runId, agent: definitionOf(run).agent, turnId: turnId ?? stepTurnId(runId, run.step) };
    if (store.steps.of(turn.turnId).length > 0) await worker.abandon(turn);
  } catch (error) {
    log.warn("what is left of a step could not be tidied away", { run: runId, error: String(error) });
  }
}
