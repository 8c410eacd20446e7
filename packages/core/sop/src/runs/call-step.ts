/** A step without a model: one tool call. One that acts is begun at most once, whatever is killed. */
import { type Json, SvcError } from "@svc/contract";
import type { JournalledCall, SopRun } from "@svc/store";
import { cut } from "../approvals/plain-text.ts";
import { fillArgs } from "../library/args.ts";
import { type After, commit } from "./after-commit.ts";
import { callProblem } from "./call-rules.ts";
import { definitionOf, stepOf, stepTurnId } from "./definition.ts";
import { isGranted } from "./gate-answer.ts";
import type { RunParts } from "./parts.ts";
import { inputOf, textOf } from "./step-input.ts";
import { completeStep, failRun, waitForLook } from "./transitions.ts";

/** Of the only call of its step. */
const CALL_ID = "call";
const MAX_REASON_CHARS = 500;

/** Rejects with SOP_STEP_FAILED, STORE_*, and what else no second try would change. */
export async function doCall(parts: RunParts, run: SopRun, signal: AbortSignal): Promise<void> {
  const known = journalled(parts, run);
  if (known?.state === "finished" || known?.state === "failed") {
    return conclude(parts, run, { ok: known.state === "finished", output: known.output });
  }
  // What a process that died had begun, or a disk that failed kept nobody from doing.
  if (known?.acting) return change(parts, run, (after) => waitForLook(parts, run, after));
  const { tool, input } = checkedCall(parts, run);
  const result = await parts.worker.call({
    runId: run.id,
    sop: run.sop,
    agent: definitionOf(run).agent,
    turnId: stepTurnId(run.id, run.step),
    callId: CALL_ID,
    tool,
    input,
    granted: isGranted(parts, run),
    signal,
  });
  await conclude(parts, run, result);
}

function journalled({ store }: RunParts, run: SopRun): JournalledCall | undefined {
  return store.toolCalls.of(stepTurnId(run.id, run.step)).find(({ callId }) => callId === CALL_ID);
}

function checkedCall({ store, worker }: RunParts, run: SopRun): { readonly tool: string; readonly input: Json } {
  const step = stepOf(run, run.step)!;
  if (!step.call)
    throw new SvcError("SOP_STEP_FAILED", `Step ${run.step} names no tool, and there is no model to ask.`);
  const input = fillArgs(step.call.args, inputOf(store, run, run.step));
  const problem = callProblem(step, definitionOf(run).agent, input, worker);
  if (problem !== undefined) throw new SvcError("SOP_STEP_FAILED", `Step ${run.step} is refused: ${problem}`);
  return { tool: step.call.tool, input };
}

const conclude = (parts: RunParts, run: SopRun, { ok, output }: { readonly ok: boolean; readonly output: Json }) =>
  change(parts, run, (after) => {
    if (ok) return completeStep(parts, run, output, after);
    const reason = `Step ${run.step}: ${cut(textOf(output), MAX_REASON_CHARS)}`;
    return failRun(parts, run, { error: "SOP_STEP_FAILED", reason }, after);
  });

/** Who cancelled the run meanwhile was first. */
const change = (parts: RunParts, run: SopRun, make: (after: After) => void): Promise<void> =>
  commit(parts.store, (after) => {
    const now = parts.store.sopRuns.read(run.id);
    if (now?.status === "running" && now.step === run.step) make(after);
  });
