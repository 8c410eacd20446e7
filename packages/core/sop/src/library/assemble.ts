/** The definition out of what the files say, checked before. */
import type { SopFile, StepEntry, TriggerEntry } from "./schema.ts";
import type { ReadSteps } from "./steps-md.ts";
import type { ExecutionMode, SopDefinition, SopStep, SopTrigger } from "./types.ts";

export function definitionOf(
  name: string,
  { sop, triggers, steps }: SopFile,
  written: Pick<ReadSteps, "steps" | "instructions">,
  defaultMode: ExecutionMode,
): SopDefinition {
  return {
    name,
    description: sop.description,
    version: sop.version,
    priority: sop.priority,
    mode: sop.execution_mode ?? defaultMode,
    cooldownMs: sop.cooldown_secs * 1000,
    maxConcurrent: sop.max_concurrent,
    agent: sop.agent,
    triggers: triggers.map(triggerOf),
    steps: steps.length > 0 ? steps.map(stepOf) : written.steps,
    instructions: written.instructions,
    ...(!sop.enabled && { isDisabled: true as const }),
  };
}

/** The rules have seen to it that each has what its type needs. */
function triggerOf(entry: TriggerEntry): SopTrigger {
  const {
    type,
    path = "",
    expression = "",
    timezone,
    event = "",
    topic = "",
    board = "",
    signal = "",
    condition,
  } = entry;
  switch (type) {
    case "webhook":
      return { type, path, condition };
    case "cron":
      return { type, expression, timezone, condition };
    case "channel_event":
      return { type, event, condition };
    case "mqtt":
      return { type, topic, condition };
    case "peripheral":
      return { type, board, signal, condition };
    case "manual":
      return { type, condition };
  }
}

function stepOf(step: StepEntry, index: number): SopStep {
  const { tool, args = {}, trusted_input: trustedInput = false, agent } = step;
  return {
    number: index + 1,
    title: step.title.trim(),
    body: step.body.trim(),
    kind: step.kind,
    requiresConfirmation: step.requires_confirmation,
    // A step that names a tool may use it, also where a model does the step.
    tools: [...new Set([...step.tools, ...(tool === undefined ? [] : [tool])])],
    ...(agent !== undefined && { agent }),
    ...(tool !== undefined && { call: { tool, args, trustedInput } }),
  };
}
