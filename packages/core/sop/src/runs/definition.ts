/** The definition a run began with: whatever has become of its files, this is what it goes by. */
import type { SopRun } from "@svc/store";
import { gateOf } from "../library/mode.ts";
import type { SopDefinition, SopStep } from "../library/types.ts";

export const definitionOf = ({ definition }: SopRun): SopDefinition => definition as unknown as SopDefinition;

/** From 1. */
export const stepOf = (run: SopRun, number: number): SopStep | undefined => definitionOf(run).steps[number - 1];

export function isGated(run: SopRun, number: number): boolean {
  const { mode, priority } = definitionOf(run);
  const step = stepOf(run, number);
  if (step === undefined) return false;
  // What may have acted in an earlier run acts again only when a person says so; and a run that begins later in the procedure has the
  // gate of its first step all the same.
  const counted = number === run.firstStep ? 1 : number;
  return step.actedIn !== undefined || gateOf(mode, priority, { ...step, number: counted }) === "wait_approval";
}

/** Keys of what a step asks people. */
export const gateId = (number: number): string => `step-${number}`;
/** Whether a call that was cut off did its work. */
export const interruptedId = (number: number): string => `step-${number}-interrupted`;

/** Whether a step may ask under this key. */
export const isStepKey = (stepId: string): boolean => /^step-\d+(?:-interrupted)?$/.test(stepId);

/** Names the step's turn and its tool calls, over restarts. The store knows turns of runs by this form. */
export const stepTurnId = (runId: string, number: number): string => `sop-${runId}-${number}`;

/** Whether a question is one of a run's: of a gate, or of a tool call in one of its steps. */
export const isQuestionOf = (runId: string, asked: { readonly runId: string }): boolean =>
  asked.runId === runId || asked.runId.startsWith(`sop-${runId}-`);
