/** A step that the agent does: one turn with the step's tools, which ends in the transaction that moves the run on. */
import type { SopRun } from "@svc/store";
import type { Pending } from "../approvals/types.ts";
import { pendingOf } from "./after-commit.ts";
import { definitionOf, stepOf, stepTurnId } from "./definition.ts";
import { isGranted } from "./gate-answer.ts";
import type { RunParts } from "./parts.ts";
import { outputBefore } from "./step-input.ts";
import { stepInstructions, stepText } from "./step-prompt.ts";
import { completeStep } from "./transitions.ts";

/** Rejects with what the turn does. */
export async function doTurn(parts: RunParts, run: SopRun, signal: AbortSignal): Promise<void> {
  const { store, worker, redact } = parts;
  const step = stepOf(run, run.step)!;
  const prompt = { run, step, before: outputBefore(store, run, run.step), fence: store.sopRuns.fence(run.n) };
  let moved: Pending<void> | undefined;
  const { response } = await worker.turn({
    runId: run.id,
    sop: run.sop,
    title: `${run.sop} #${run.n}`,
    agent: definitionOf(run).agent,
    childAgent: step.agent,
    turnId: stepTurnId(run.id, run.step),
    text: redact(stepText(prompt)),
    instructions: redact(stepInstructions(prompt)),
    tools: step.tools,
    granted: isGranted(parts, run),
    alongside: (answer) => {
      moved = moveOn(parts, run, answer);
    },
    signal,
  });
  // A turn whose end was on disk before it was asked for has no second one.
  moved ??= await store.write(() => moveOn(parts, run, response));
  moved.committed();
}

/** Inside a transaction. Who cancelled the run meanwhile was first. */
const moveOn = (parts: RunParts, run: SopRun, response: string): Pending<void> =>
  pendingOf((after) => {
    const now = parts.store.sopRuns.read(run.id);
    if (now?.status === "running" && now.step === run.step) completeStep(parts, now, response, after);
  });
