/**
 * How a run goes from state to state. Everything here is called inside a transaction, with the run as it is in it, and
 * leaves behind a state that a process which finds it knows how to go on from.
 */
import type { Json, SvcEvent } from "@svc/contract";
import type { SopRun, SopRunEnd, SopStepRow } from "@svc/store";
import { shortened } from "../approvals/plain-text.ts";
import type { ApprovalRequest } from "../approvals/types.ts";
import type { After } from "./after-commit.ts";
import { testMark } from "./begin.ts";
import { isGated, stepOf } from "./definition.ts";
import type { RunParts } from "./parts.ts";
import { gateRequest, interruptedRequest } from "./questions.ts";
import { textOf } from "./step-input.ts";

/** The step runs, or waits for a person before it does. */
export function enterStep(parts: RunParts, run: SopRun, number: number, after: After): void {
  if (isGated(run, number)) waitFor(parts, run, number, gateRequest(parts, run, number), after);
  else runStep(parts, run, number, after);
}

/** Its gate is open. */
export function runStep(parts: RunParts, run: SopRun, number: number, after: After): void {
  moveTo(parts, run, number, "running", after);
}

/** A call of it was cut off: somebody has to look. */
export function waitForLook(parts: RunParts, run: SopRun, after: After): void {
  waitFor(parts, run, run.step, interruptedRequest(parts, run, run.step), after);
}

/** The step is done; the next one begins, or the run ends. */
export function completeStep(parts: RunParts, run: SopRun, output: Json, after: After): void {
  endStep(parts, run, "completed", keptOutput(output), after);
  if (stepOf(run, run.step + 1)) enterStep(parts, run, run.step + 1, after);
  else endRun(parts, run, { status: "completed" }, after);
}

const MAX_OUTPUT_CHARS = 65_536;

/** Of a value that is too long, the beginning of its text. */
const keptOutput = (output: Json): Json =>
  textOf(output).length <= MAX_OUTPUT_CHARS ? output : shortened(textOf(output), MAX_OUTPUT_CHARS);

/** The step failed, and the run with it. */
export function failRun(parts: RunParts, run: SopRun, end: Pick<SopRunEnd, "error" | "reason">, after: After): void {
  endStep(parts, run, "failed", null, after);
  endRun(parts, run, { status: "failed", ...end }, after);
}

/** Somebody, or the time, ended the run before its last step was done. */
export function cancelRun(parts: RunParts, run: SopRun, end: Pick<SopRunEnd, "error" | "reason">, after: After): void {
  endStep(parts, run, "cancelled", null, after);
  endRun(parts, run, { status: "cancelled", ...end }, after);
}

function waitFor(parts: RunParts, run: SopRun, number: number, request: ApprovalRequest, after: After): void {
  moveTo(parts, run, number, "waiting_approval", after);
  const { committed } = parts.approvals.requestIn(request);
  after(committed);
}

function moveTo(
  { store, clock, publish }: RunParts,
  run: SopRun,
  number: number,
  status: "running" | "waiting_approval",
  after: After,
): void {
  store.sopRuns.move(run.n, status, number);
  store.sopRuns.steps.set(run.n, number, status, clock.now());
  after(() => publish(stepEvent(run, number, status)));
}

function endStep(
  { store, clock, lines, publish }: RunParts,
  run: SopRun,
  status: "completed" | "failed" | "cancelled",
  output: Json,
  after: After,
): void {
  // A run that was ended before its first step began has none.
  if (run.status === "pending") return;
  store.sopRuns.steps.end(run.n, run.step, { status, output }, clock.now());
  lines.stepEnd(run, run.step, status);
  if (status !== "cancelled") after(() => publish(stepEvent(run, run.step, status)));
}

function endRun(
  { store, clock, lines, publish, log, redact }: RunParts,
  run: SopRun,
  end: SopRunEnd,
  after: After,
): void {
  const { status, error } = end;
  const reason = end.reason === undefined ? undefined : redact(end.reason);
  const nowMs = clock.now();
  store.sopRuns.end(run.n, { status, error, reason }, nowMs);
  lines.runEnd(run, { status, error, reason });
  after(() => {
    const durationMs = Math.max(0, nowMs - run.startedAtMs);
    publish({ type: "sop-run-end", runId: run.id, sop: run.sop, status, error, durationMs, ...testMark(run) });
    if (status === "failed") log.warn("a run of a procedure failed", { run: run.id, sop: run.sop, error, reason });
  });
}

const stepEvent = (run: SopRun, step: number, status: Exclude<SopStepRow["status"], "cancelled">): SvcEvent => ({
  type: "sop-run-step",
  runId: run.id,
  sop: run.sop,
  step,
  status,
  ...testMark(run),
});
