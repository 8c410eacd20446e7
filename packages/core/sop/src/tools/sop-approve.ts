/** `sop_approve`: somebody tells the agent to let a waiting run go on, or to end it. Never one of its own making. */
import { defineTool, type Json, SvcError } from "@svc/contract";
import type { SopRun } from "@svc/store";
import * as v from "valibot";
import { runId } from "./inputs.ts";
import { runJson } from "./sop-read.ts";
import type { SopTool, SopToolContext, SopToolDeps } from "./tool-context.ts";

export function sopApproveTool({ sops, approvals }: SopToolDeps): SopTool {
  return defineTool({
    name: "sop_approve",
    description:
      "Answers the question that a waiting run of a procedure asks: approve and it goes on, reject and it is cancelled. Only " +
      "when a person who may decide this has told you to. Runs that you have started are for people to answer.",
    input: v.strictObject({
      run_id: runId,
      approved: v.pipe(v.boolean(), v.description("true lets it go on, false cancels it.")),
      feedback: v.optional(v.pipe(v.string(), v.maxLength(2_000), v.description("Why; people read it."))),
    }),
    approval: "ask",
    run: async ({ run_id: id, approved, feedback }, context): Promise<Json> => {
      const { agent, turnId } = context as SopToolContext;
      checkMayAnswer(sops().readRun(id).run, agent, turnId);
      const waiting = approvals().list({ status: "waiting", runId: id }, 100).approvals.find(isGate);
      if (!waiting) throw new SvcError("APPROVAL_UNKNOWN", "This run does not wait for an answer.");
      const answer = {
        approved,
        by: `agent ${agent}`,
        via: "agent" as const,
        ...(feedback !== undefined && { feedback }),
      };
      await approvals().resolve(waiting, answer);
      return { answered: waiting.stepId, approved, ...runJson(sops().readRun(id).run) };
    },
  });
}

/** The question of an outside workflow or of a tool call may carry the same run id. */
const isGate = ({ origin }: { readonly origin: string }): boolean => origin === "sop";

/**
 * Whoever starts a run must not be the one who lets it go on. Nor may a step of any run: two procedures that start each
 * other would approve each other, and text from outside is what steps work on.
 */
function checkMayAnswer(run: SopRun, agent: string, turnId: string): void {
  if (run.startedByAgent === agent) {
    throw new SvcError("TOOL_REFUSED", "An agent can't answer for a run that it has started; a person has to.");
  }
  if (turnId.startsWith("sop-")) {
    throw new SvcError("TOOL_REFUSED", "A step of a procedure can't answer for procedures; a person has to.");
  }
}
