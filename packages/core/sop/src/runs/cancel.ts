/** A person ends a run, in whatever state it is. */
import { SvcError } from "@svc/contract";
import type { SopRun } from "@svc/store";
import { commit } from "./after-commit.ts";
import { gateId, interruptedId } from "./definition.ts";
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
    for (const stepId of [gateId(run.step), interruptedId(run.step)]) {
      if (!questionOf(parts, id, stepId)) continue;
      const closed = approvals.cancelIn({ runId: id, stepId }, `run ${id} was cancelled by ${by}`);
      if (closed) after(closed.committed);
    }
    return store.sopRuns.read(id);
  });
  if (cancelled === "ended") throw new SvcError("SOP_RUN_ENDED", undefined, { hint: "How it ended: svc sop show" });
  if (!cancelled) throw runUnknown();
  return cancelled;
}
