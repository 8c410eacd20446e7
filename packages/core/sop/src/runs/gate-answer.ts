/** The question of a run's own step: an outside workflow may have asked another one under the same key. */
import type { Approval, SopRun } from "@svc/store";
import { gateId } from "./definition.ts";
import type { RunParts } from "./parts.ts";

export function questionOf(
  { approvals }: Pick<RunParts, "approvals">,
  runId: string,
  stepId: string,
): Approval | undefined {
  const approval = approvals.get({ runId, stepId });
  return approval?.origin === "sop" ? approval : undefined;
}

/** Somebody said yes to the step that the run is at. */
export const isGranted = (parts: Pick<RunParts, "approvals">, { id, step }: SopRun): boolean =>
  questionOf(parts, id, gateId(step))?.status === "approved";
