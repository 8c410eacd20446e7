/** A question of a run has its end: inside the transaction in which it got it, the run goes on or is over. */
import type { Approval, SopRun } from "@svc/store";
import type { After } from "./after-commit.ts";
import { gateId, interruptedId, stepOf } from "./definition.ts";
import type { RunParts } from "./parts.ts";
import { cancelRun, completeStep, runStep } from "./transitions.ts";

/** Does nothing for a run that has ended, or waits for something else. */
export function settleIn(parts: RunParts, approval: Approval, after: After): void {
  const { status, runId, stepId } = approval;
  if (approval.origin !== "sop" || status === "waiting") return;
  const run = parts.store.sopRuns.read(runId);
  if (run?.status !== "waiting_approval" || !isAbout(run, stepId)) return;
  if (status === "approved") goOn(parts, run, stepId, after);
  else cancelRun(parts, run, endOf(approval), after);
  after(() => {
    if (status === "expired") {
      parts.log.warn("no answer in time; run cancelled", { run: runId, sop: run.sop });
    }
    parts.wake(runId);
  });
}

const isAbout = ({ step }: SopRun, stepId: string): boolean =>
  stepId === gateId(step) || stepId === interruptedId(step);

function goOn(parts: RunParts, run: SopRun, stepId: string, after: After): void {
  const isDone = stepId === interruptedId(run.step) || stepOf(run, run.step)?.kind === "checkpoint";
  if (isDone) completeStep(parts, run, null, after);
  else runStep(parts, run, run.step, after);
}

function endOf({ status, answer }: Approval) {
  if (status === "expired") {
    return { error: "APPROVAL_EXPIRED", reason: "The approval request was not answered in time." } as const;
  }
  if (status === "cancelled") return { reason: "The approval request was called off." };
  const by = answer?.by ?? "somebody";
  return { reason: answer?.feedback ? `Rejected by ${by}: ${answer.feedback}` : `Rejected by ${by}.` };
}
