/** The definition a run began with, whatever has become of its files: its steps, their gates and inputs. */
import type { SopRun, Store } from "@svc/store";
import type { ExecutionMode, Priority, SopDefinition, SopStep } from "../library/types.ts";
import type { Json } from "@svc/contract";
import { jsonAs } from "@svc/kit";

export const definitionOf = ({ definition }: SopRun): SopDefinition => jsonAs<SopDefinition>(definition);

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

// What a step is given.

/** What the last step that did something gave; undefined: there is none. A checkpoint only lets through. */
export function outputBefore({ sopRuns }: Pick<Store, "sopRuns">, run: SopRun, number: number): Json | undefined {
  let before = number - 1;
  while (stepOf(run, before)?.kind === "checkpoint") before -= 1;
  return sopRuns.steps.output(run.n, before);
}

/** Of a step without a model: the first is given the payload. */
export function inputOf(store: Pick<Store, "sopRuns">, run: SopRun, number: number): Json {
  const before = outputBefore(store, run, number);
  return before === undefined ? payloadOf(run) : before;
}

/** As a model and people read it: text as it is, all else as JSON. */
export const textOf = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

function payloadOf({ payload }: SopRun): Json {
  if (payload === null) return null;
  try {
    return JSON.parse(payload) as Json;
  } catch {
    return payload;
  }
}

/** What an execution mode does before a step. */
type Gate = "execute" | "wait_approval";

/** A mode only adds gates: what a step demands, it demands in every mode. */
export function gateOf(
  mode: ExecutionMode,
  priority: Priority,
  step: Pick<SopStep, "number" | "kind" | "requiresConfirmation">,
): Gate {
  const demanded = step.requiresConfirmation || step.kind === "checkpoint";
  return demanded || isGatedByMode(mode, priority, step.number) ? "wait_approval" : "execute";
}

function isGatedByMode(mode: ExecutionMode, priority: Priority, step: number): boolean {
  switch (mode) {
    case "auto":
    case "deterministic":
      return false;
    case "step_by_step":
      return true;
    case "supervised":
      return step === 1;
    case "priority_based":
      return step === 1 && priority !== "high" && priority !== "critical";
  }
}
