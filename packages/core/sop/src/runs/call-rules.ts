/**
 * What may come from outside into a tool call that no model and no person looks at first. An argument that refers to the
 * step's input stands for text of a stranger, or of a tool that read one.
 */
import { type Json, SvcError } from "@svc/contract";
import { referencesIn } from "../library/args.ts";
import type { SopDefinition, SopStep } from "../library/types.ts";
import type { StepWorker } from "./types.ts";

type CallJudge = Pick<StepWorker, "acts" | "runsCommands">;

/** The first step that would be refused however the run goes, and why. */
export function unsafeStep(definition: SopDefinition, worker: CallJudge): string | undefined {
  for (const step of definition.steps) {
    const problem = step.call && callProblem(step, definition.agent, step.call.args as Json, worker);
    if (problem !== undefined) return `Step ${step.number}: ${problem}`;
  }
  return undefined;
}

/** A sentence; undefined: it may be called. `input`: the arguments, as far as they are filled in. */
export function callProblem(
  { call, requiresConfirmation }: SopStep,
  agent: string | undefined,
  input: Json,
  worker: CallJudge,
): string | undefined {
  const places = call ? referencesIn(call.args) : [];
  if (!call || places.length === 0) return undefined;
  if (places.some((place) => place.includes("command")) || saysYes(() => worker.runsCommands(agent, call.tool))) {
    return `what comes from outside may not be part of a command, so ${call.tool} takes no references.`;
  }
  if (requiresConfirmation || call.trustedInput || !saysYes(() => worker.acts(agent, call.tool, input)))
    return undefined;
  return `${call.tool} acts on what comes from outside: the step needs requires_confirmation or trusted_input = true.`;
}

/** A tool that can't be asked, because its input is not there yet, is taken for one that does. One that is not there does not. */
function saysYes(ask: () => boolean): boolean {
  try {
    return ask();
  } catch (error) {
    return !(error instanceof SvcError && ABSENT.has(error.code));
  }
}

const ABSENT: ReadonlySet<string> = new Set(["TOOL_UNKNOWN", "TOOL_UNAVAILABLE", "AGENT_UNKNOWN"]);
