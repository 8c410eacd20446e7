/** A procedure as /api and `svc sop --json` show it. */
import type { Sop, SopStep as StepJson, SopTrigger as TriggerJson } from "@svc/api";
import type { SopStep, SopTrigger } from "../library/types.ts";
import type { SopSummary } from "../runs/types.ts";
import { runJson } from "./run-json.ts";
import { instantOrNull, orNull } from "./values.ts";

export function sopJson({ definition, problem, activeRuns, lastRun, nextAtMs }: SopSummary): Sop {
  const next = nextAtMs.values();
  return {
    name: definition.name,
    enabled: definition.isDisabled !== true,
    description: definition.description,
    version: definition.version,
    priority: definition.priority,
    execution_mode: definition.mode,
    cooldown_secs: definition.cooldownMs / 1000,
    max_concurrent: definition.maxConcurrent,
    agent: orNull(definition.agent),
    triggers: definition.triggers.map((trigger) => triggerJson(trigger, () => next.next().value)),
    steps: definition.steps.map(stepJson),
    active_runs: activeRuns,
    last_run: lastRun ? runJson(lastRun) : null,
    problem: orNull(problem),
  };
}

function triggerJson(trigger: SopTrigger, next: () => number | undefined): TriggerJson {
  const { type, condition } = trigger;
  const rest = { type, condition: orNull(condition) };
  if (trigger.type === "webhook") return { ...rest, path: trigger.path };
  if (trigger.type === "channel_event") return { ...rest, event: trigger.event };
  if (trigger.type === "mqtt") return { ...rest, topic: trigger.topic };
  if (trigger.type === "peripheral") return { ...rest, board: trigger.board, signal: trigger.signal };
  if (trigger.type === "manual") return rest;
  const { expression, timezone } = trigger;
  return { ...rest, expression, timezone: orNull(timezone), next_at: instantOrNull(next()) };
}

const stepJson = ({ number, title, kind, tools, requiresConfirmation, agent }: SopStep): StepJson => ({
  number,
  title,
  kind,
  tools: [...tools],
  requires_confirmation: requiresConfirmation,
  agent: orNull(agent),
});
