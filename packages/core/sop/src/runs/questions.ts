/** What a person is asked before a step, and after one that was cut off. */
import type { Json } from "@svc/contract";
import type { SopRun } from "@svc/store";
import { cut, oneLine, quoted } from "../approvals/plain-text.ts";
import type { ApprovalRequest } from "../approvals/types.ts";
import { fillArgs } from "../library/args.ts";
import type { SopStep } from "../library/types.ts";
import { definitionOf, gateId, interruptedId, stepOf } from "./definition.ts";
import type { RunParts } from "./parts.ts";
import { inputOf, outputBefore, textOf } from "./step-input.ts";

/** A question is read on a phone. */
const MAX_BODY_CHARS = 1_500;
const MAX_DATA_CHARS = 800;
const MAX_LINE_CHARS = 200;

export function gateRequest(parts: RunParts, run: SopRun, number: number): ApprovalRequest {
  const step = stepOf(run, number)!;
  const before = outputBefore(parts.store, run, number);
  const isCheckpoint = step.kind === "checkpoint";
  return {
    ...asked(parts, run, gateId(number)),
    title: `${testWord(run)}${run.sop}: ${step.title}`,
    message: [
      `Step ${number} of ${definitionOf(run).steps.length} of the procedure ${run.sop}` +
        `${isCheckpoint ? " is a checkpoint: nothing runs; the run continues after an approval." : "."}`,
      run.isTest ? "This is a test run. Its tools act as in any other run." : "",
      step.actedIn === undefined ? "" : `The run ${step.actedIn} may have done this already. A yes has it done again.`,
      step.body === "" ? "" : quotedData(parts, step.body, MAX_BODY_CHARS),
      isCheckpoint ? "" : toolsLine(step),
      step.call && isDeterministic(run) ? callLines(parts, run, step) : "",
      before === undefined ? "" : `What the step before gave:\n${quotedData(parts, before, MAX_DATA_CHARS)}`,
      run.payload === null ? "" : `What came with the event:\n${quotedData(parts, run.payload, MAX_DATA_CHARS)}`,
      `Started by ${lineOf(run.startedBy)}; run ${run.id}.`,
    ]
      .filter((part) => part !== "")
      .join("\n\n"),
  };
}

/** A call that acts was begun, and nobody knows how it ended. */
export function interruptedRequest(parts: RunParts, run: SopRun, number: number): ApprovalRequest {
  const step = stepOf(run, number)!;
  return {
    ...asked(parts, run, interruptedId(number)),
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

const asked = ({ places }: RunParts, run: SopRun, stepId: string) => ({
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
function callLines(parts: RunParts, run: SopRun, { call, number }: SopStep): string {
  let args: Json;
  try {
    args = fillArgs(call!.args, inputOf(parts.store, run, number));
  } catch {
    return `It calls ${call!.tool}, and fails: its input lacks what the arguments refer to.`;
  }
  return `It calls ${call!.tool} with:\n${quotedData(parts, JSON.stringify(args, undefined, 2), MAX_BODY_CHARS)}`;
}

/** Of a secret that a cut goes through, a half would stay. */
const quotedData = ({ redact }: RunParts, data: Json, maxChars: number): string =>
  quoted(cut(redact(textOf(data)), maxChars));
