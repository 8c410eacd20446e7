/** A person ends a run, in whatever state it is. */
import { SvcError } from "@svc/contract";
import type { SopRun } from "@svc/store";
import type { ApprovalKey } from "../approvals/types.ts";
import { commit } from "./after-commit.ts";
import { gateId, interruptedId, stepTurnId } from "./definition.ts";
import { questionOf } from "./gate-answer.ts";
import { runUnknown } from "./lists.ts";
import type { RunParts } from "./parts.ts";
import { cancelRun } from "./transitions.ts";

/** Resolves once it is on disk. Throws SOP_RUN_UNKNOWN, SOP_RUN_ENDED, STORE_*. */
export async function cancelByPerson(parts: RunParts, id: string, by: string): Promise<SopRun> {
  const { store, approvals } = parts;
  const cancelled = await commit(store, (after) => {
    const run = store.sopRuns.read(id);
    // Thrown in here, it would undo what others do in the same transaction.
    if (run?.endedAtMs !== undefined) return "ended";
    if (!run) return undefined;
    const reason = `Cancelled by ${by}.`;
    // First the run: the end of its question finds nothing to cancel any more.
    cancelRun(parts, run, { reason }, after);
    for (const key of [...gatesOf(parts, run), ...callsOf(parts, run)]) {
      const closed = approvals.cancelIn(key, `run ${id} was cancelled by ${by}`);
      if (closed) after(closed.committed);
    }
    return store.sopRuns.read(id);
  });
  if (cancelled === "ended") throw new SvcError("SOP_RUN_ENDED", undefined, { hint: "How it ended: svc sop show" });
  if (!cancelled) throw runUnknown();
  return cancelled;
}

const gatesOf = (parts: RunParts, { id, step }: SopRun): ApprovalKey[] =>
  [gateId(step), interruptedId(step)].flatMap((stepId) => questionOf(parts, id, stepId) ?? []);

/**
 * The calls of its step that wait for a person. Whoever is at the run calls them off too, but nobody may be: a yes to a call
 * that is never made would be believed.
 */
const callsOf = ({ store }: RunParts, { id, step }: SopRun): ApprovalKey[] =>
  store.approvals
    .list({ status: "waiting", runId: stepTurnId(id, step) }, MOST_CALLS)
    .filter(({ origin }) => origin === "tool");

/** Of one step at a time. */
const MOST_CALLS = 100;
