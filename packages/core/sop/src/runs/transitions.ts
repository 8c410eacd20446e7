/**
 * How a run goes from state to state. Everything here is called inside a transaction, with the run as it is in it, and
 * leaves behind a state that a process which finds it knows how to go on from.
 */
import type { Json, SvcEvent } from "@svc/contract";
import type { SopRun, SopRunEnd, SopStepRow } from "@svc/store";
import { cut, oneLine, quoted, shortened } from "../approvals/plain-text.ts";
import type { ApprovalRequest } from "../approvals/types.ts";
import type { After, RunDeps } from "./deps.ts";
import { testMark } from "./begin.ts";
import { definitionOf, gateId, inputOf, interruptedId, isGated, outputBefore, stepOf, textOf } from "./definition.ts";
import { fillArgs } from "../library/args.ts";
import type { SopStep } from "../library/types.ts";

/** The step runs, or waits for a person before it does. */
export function enterStep(deps: RunDeps, run: SopRun, number: number, after: After): void {
  if (isGated(run, number)) waitFor(deps, run, number, gateRequest(deps, run, number), after);
  else runStep(deps, run, number, after);
}

/** Its gate is open. */
export function runStep(deps: RunDeps, run: SopRun, number: number, after: After): void {
  moveTo(deps, run, number, "running", after);
}

/** A call of it was cut off: somebody has to look. */
export function waitForLook(deps: RunDeps, run: SopRun, after: After): void {
  waitFor(deps, run, run.step, interruptedRequest(deps, run, run.step), after);
}

/** The step is done; the next one begins, or the run ends. */
export function completeStep(deps: RunDeps, run: SopRun, output: Json, after: After): void {
  endStep(deps, run, "completed", keptOutput(output), after);
  if (stepOf(run, run.step + 1)) enterStep(deps, run, run.step + 1, after);
  else endRun(deps, run, { status: "completed" }, after);
}

const MAX_OUTPUT_CHARS = 65_536;

/** Of a value that is too long, the beginning of its text. */
const keptOutput = (output: Json): Json =>
  textOf(output).length <= MAX_OUTPUT_CHARS ? output : shortened(textOf(output), MAX_OUTPUT_CHARS);

/** The step failed, and the run with it. */
export function failRun(deps: RunDeps, run: SopRun, end: Pick<SopRunEnd, "error" | "reason">, after: After): void {
  endStep(deps, run, "failed", null, after);
  endRun(deps, run, { status: "failed", ...end }, after);
}

/** Somebody, or the time, ended the run before its last step was done. */
export function cancelRun(deps: RunDeps, run: SopRun, end: Pick<SopRunEnd, "error" | "reason">, after: After): void {
  endStep(deps, run, "cancelled", null, after);
  endRun(deps, run, { status: "cancelled", ...end }, after);
}

function waitFor(deps: RunDeps, run: SopRun, number: number, request: ApprovalRequest, after: After): void {
  moveTo(deps, run, number, "waiting_approval", after);
  const { committed } = deps.approvals.requestIn(request);
  after(committed);
}

function moveTo(
  { store, clock, publish }: RunDeps,
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
  { store, clock, lines, publish }: RunDeps,
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
  { store, clock, lines, publish, log, redact }: RunDeps,
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

// What a person is asked before a step, and after one that was cut off.

/** A question is read on a phone. */
const MAX_BODY_CHARS = 1_500;
const MAX_DATA_CHARS = 800;
const MAX_LINE_CHARS = 200;

function gateRequest(deps: RunDeps, run: SopRun, number: number): ApprovalRequest {
  const step = stepOf(run, number)!;
  const before = outputBefore(deps.store, run, number);
  const isCheckpoint = step.kind === "checkpoint";
  return {
    ...asked(deps, run, gateId(number)),
    title: `${testWord(run)}${run.sop}: ${step.title}`,
    message: [
      `Step ${number} of ${definitionOf(run).steps.length} of the procedure ${run.sop}` +
        `${isCheckpoint ? " is a checkpoint: nothing runs; the run continues after an approval." : "."}`,
      run.isTest ? "This is a test run. Its tools act as in any other run." : "",
      step.actedIn === undefined ? "" : `The run ${step.actedIn} may have done this already. A yes has it done again.`,
      step.body === "" ? "" : quotedData(deps, step.body, MAX_BODY_CHARS),
      isCheckpoint ? "" : toolsLine(step),
      step.call && isDeterministic(run) ? callLines(deps, run, step) : "",
      before === undefined ? "" : `What the step before gave:\n${quotedData(deps, before, MAX_DATA_CHARS)}`,
      run.payload === null ? "" : `What came with the event:\n${quotedData(deps, run.payload, MAX_DATA_CHARS)}`,
      `Started by ${lineOf(run.startedBy)}; run ${run.id}.`,
    ]
      .filter((part) => part !== "")
      .join("\n\n"),
  };
}

/** A call that acts was begun, and nobody knows how it ended. */
function interruptedRequest(deps: RunDeps, run: SopRun, number: number): ApprovalRequest {
  const step = stepOf(run, number)!;
  return {
    ...asked(deps, run, interruptedId(number)),
    title: `${testWord(run)}${run.sop}: ${step.title} was cut off`,
    message: [
      `The service ended while step ${number} of the procedure ${run.sop} ran ${step.call?.tool ?? "a tool"}. Whether it ` +
        "did its work is not known, and it is not run again.",
      "Look yourself, and put right what is half done. Approve, and the run goes on with the next step; this one " +
        "counts as done, without output. Reject, and the run is cancelled.",
      `Started by ${lineOf(run.startedBy)}; run ${run.id}.`,
    ].join("\n\n"),
  };
}

const testWord = ({ isTest }: SopRun): string => (isTest ? "Test: " : "");

const isDeterministic = (run: SopRun): boolean => definitionOf(run).mode === "deterministic";

const asked = ({ places }: RunDeps, run: SopRun, stepId: string) => ({
  runId: run.id,
  stepId,
  origin: "sop" as const,
  askedBy: `procedure ${run.sop}`,
  conversations: places(),
  // Another version words the same question in another way.
  subject: { run: run.id, step: stepId },
});

const lineOf = (text: string): string => cut(oneLine(text), MAX_LINE_CHARS);

const toolsLine = ({ tools, call }: SopStep): string => {
  const names = tools.length > 0 || !call ? tools : [call.tool];
  return names.length === 0 ? "It uses no tools." : `A yes lets it use these tools, each once: ${names.join(", ")}.`;
};

/** Who says yes has to see what is called with what. */
function callLines(deps: RunDeps, run: SopRun, { call, number }: SopStep): string {
  let args: Json;
  try {
    args = fillArgs(call!.args, inputOf(deps.store, run, number));
  } catch {
    return `It calls ${call!.tool}, and fails: its input lacks what the arguments refer to.`;
  }
  return `It calls ${call!.tool} with:\n${quotedData(deps, JSON.stringify(args, undefined, 2), MAX_BODY_CHARS)}`;
}

/** Of a secret that a cut goes through, a half would stay. */
const quotedData = ({ redact }: RunDeps, data: Json, maxChars: number): string =>
  quoted(cut(redact(textOf(data)), maxChars));
