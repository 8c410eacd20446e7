/** What the agent can do with procedures. */
import { type Json, SvcError, type Tool, type ToolContext, defineTool } from "@svc/contract";
import * as v from "valibot";
import { MAX_PAYLOAD_CHARS } from "./runs/begin.ts";
import type { SopRun } from "@svc/store";
import { cut } from "./approvals/plain-text.ts";
import { definitionOf, textOf } from "./runs/definition.ts";
import type { SopRunDetail, SopSummary, Sops } from "./runs/types.ts";
import type { Approvals } from "./approvals/types.ts";

/** Where there is no procedure they can only fail, and are better not offered. */
export const SOP_TOOLS: readonly string[] = ["sop_list", "sop_status", "sop_run", "sop_approve"];

export const sopTools = (deps: SopToolDeps): SopTool[] => [
  sopListTool(deps),
  sopStatusTool(deps),
  sopRunTool(deps),
  sopApproveTool(deps),
];

/** `sop_run`: the agent starts a procedure. */
function sopRunTool({ sops }: SopToolDeps): SopTool {
  const tool = defineTool({
    name: "sop_run",
    description:
      "Starts a procedure that has a manual trigger. It goes on by itself, in the background; the result tells the run's id, " +
      "and sop_status how far it is. Its gates are for people: you can't approve a run that you have started.",
    input: v.strictObject({
      sop: sopName,
      payload: v.optional(
        v.pipe(
          v.string(),
          v.maxLength(MAX_PAYLOAD_CHARS),
          v.check(isJson, "JSON text"),
          v.description("What the procedure is given, as JSON text. Default: nothing."),
        ),
      ),
    }),
    approval: "ask",
    run: async ({ sop, payload }, context): Promise<Json> => {
      const { agent, turnId, callId } = context as SopToolContext;
      const starter = { by: `agent ${agent}`, agent, key: `${turnId}:${callId}` };
      return runJson(await sops().run(sop, payload ?? null, starter));
    },
  });
  // It may be made again: by its key it gives the run that it began before.
  return { ...tool, recall: () => undefined };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** `sop_approve`: somebody tells the agent to let a waiting run go on, or to end it. Never one of its own making. */
function sopApproveTool({ sops, approvals }: SopToolDeps): SopTool {
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

// `sop_list` and `sop_status`: which procedures there are, and how their runs are.

/** A result the model reads is cut at 64 Ki characters: these stay well below. */
const MAX_SOPS = 100;
const MAX_RUNS = 20;
const MAX_LINE_CHARS = 200;
const MAX_OUTPUT_CHARS = 2_000;
/** Of all steps of a run together. */
const MAX_OUTPUTS_CHARS = 20_000;

function sopListTool({ sops }: SopToolDeps): SopTool {
  return defineTool({
    name: "sop_list",
    description:
      "Lists the procedures (SOPs) of this service: what each is for, how it is started, and whether it runs. Those with " +
      "manual = true can be started with sop_run.",
    input: v.strictObject({}),
    approval: "auto",
    run: async (): Promise<Json> => {
      const all = sops().list();
      return {
        procedures: all.slice(0, MAX_SOPS).map(summaryJson),
        ...(all.length > MAX_SOPS && { more: all.length - MAX_SOPS }),
      };
    },
  });
}

function sopStatusTool({ sops }: SopToolDeps): SopTool {
  return defineTool({
    name: "sop_status",
    description:
      "Tells how runs of procedures are: with run_id one run and its steps, else the newest runs, of all procedures or of " +
      "the one that sop names.",
    input: v.strictObject({ run_id: v.optional(runId), sop: v.optional(sopName) }),
    approval: "auto",
    run: async ({ run_id: id, sop }): Promise<Json> => {
      if (id !== undefined) return detailJson(sops().readRun(id));
      if (sop !== undefined) sops().show(sop);
      return {
        runs: sops()
          .runs(sop === undefined ? {} : { sop }, MAX_RUNS)
          .runs.map(runJson),
      };
    },
  });
}

const summaryJson = ({ definition, problem, activeRuns, lastRun }: SopSummary): Json => ({
  name: definition.name,
  description: cut(definition.description, MAX_LINE_CHARS),
  manual: definition.triggers.some(({ type }) => type === "manual"),
  ...(definition.isDisabled && { disabled: true }),
  mode: definition.mode,
  steps: definition.steps.length,
  active_runs: activeRuns,
  ...(lastRun && { last_run: { run_id: lastRun.id, status: lastRun.status } }),
  ...(problem !== undefined && { problem: cut(problem, MAX_LINE_CHARS) }),
});

const runJson = (run: SopRun): { readonly [name: string]: Json } => ({
  run_id: run.id,
  sop: run.sop,
  status: run.status,
  step: run.step,
  started_at: new Date(run.startedAtMs).toISOString(),
  ...(run.isTest && { test: true }),
  ...(run.endedAtMs !== undefined && { ended_at: new Date(run.endedAtMs).toISOString() }),
  ...(run.error !== undefined && { error: run.error }),
  ...(run.reason !== undefined && { reason: cut(run.reason, MAX_LINE_CHARS) }),
});

function detailJson({ run, steps }: SopRunDetail): Json {
  const rows = new Map(steps.map((row) => [row.step, row]));
  let left = MAX_OUTPUTS_CHARS;
  const shown = definitionOf(run).steps.map(({ title }, index): Json => {
    const row = rows.get(index + 1);
    const output = row === undefined || row.output === null ? "" : textOf(row.output);
    const part = cut(output, Math.min(MAX_OUTPUT_CHARS, left));
    left -= part.length;
    return {
      step: index + 1,
      title: cut(title, MAX_LINE_CHARS),
      status: row?.status ?? "pending",
      ...(part !== "" && { output: part }),
    };
  });
  return { ...runJson(run), started_by: cut(run.startedBy, MAX_LINE_CHARS), steps: shown };
}

/** Pieces of the tools' inputs. */
const name = (description: string) =>
  v.pipe(v.string(), v.trim(), v.nonEmpty(), v.maxLength(256), v.description(description));

const runId = name("Id of a run, as sop_run and sop_status tell it.");
const sopName = name("Name of the procedure, as sop_list tells it.");

/** What core's own tools are handed beside what every tool gets; the agent's `CoreToolContext`, as far as it is used here. */
interface SopToolContext extends ToolContext {
  /** Name of the agent that calls. */
  readonly agent: string;
  /** The same when the call is made again because the process died; together with `callId` it names the call. */
  readonly turnId: string;
  readonly callId: string;
}

/** Structurally the agent's `CoreTool`. */
interface SopTool extends Tool {
  /** What a call came to that was cut off; undefined: it has done nothing, and may be made again. */
  recall?(turnId: string, callId: string): { readonly output: Json } | undefined;
}

/** Asked at every call: tools are registered before there is a store. */
export interface SopToolDeps {
  readonly sops: () => Sops;
  readonly approvals: () => Pick<Approvals, "list" | "resolve">;
}
