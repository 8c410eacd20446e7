/** What an execution mode does before a step. */
import type { ExecutionMode, Priority, SopStep } from "./types.ts";

export type Gate = "execute" | "wait_approval";

/** A mode only adds gates: what a step demands, it demands in every mode. */
export function gateOf(
  mode: ExecutionMode,
  priority: Priority,
  step: Pick<SopStep, "number" | "kind" | "requiresConfirmation">,
): Gate {
  const demanded = step.requiresConfirmation || step.kind === "checkpoint";
  return demanded || isGated(mode, priority, step.number) ? "wait_approval" : "execute";
}

function isGated(mode: ExecutionMode, priority: Priority, step: number): boolean {
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
