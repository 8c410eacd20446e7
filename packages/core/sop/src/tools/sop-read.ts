/** `sop_list` and `sop_status`: which procedures there are, and how their runs are. */
import { defineTool, type Json } from "@svc/contract";
import type { SopRun } from "@svc/store";
import * as v from "valibot";
import { cut } from "../approvals/plain-text.ts";
import { definitionOf } from "../runs/definition.ts";
import { textOf } from "../runs/step-input.ts";
import type { SopRunDetail, SopSummary } from "../runs/types.ts";
import { runId, sopName } from "./inputs.ts";
import type { SopTool, SopToolDeps } from "./tool-context.ts";

/** A result the model reads is cut at 64 Ki characters: these stay well below. */
const MAX_SOPS = 100;
const MAX_RUNS = 20;
const MAX_LINE_CHARS = 200;
const MAX_OUTPUT_CHARS = 2_000;
/** Of all steps of a run together. */
const MAX_OUTPUTS_CHARS = 20_000;

export function sopListTool({ sops }: SopToolDeps): SopTool {
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

export function sopStatusTool({ sops }: SopToolDeps): SopTool {
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

export const runJson = (run: SopRun): { readonly [name: string]: Json } => ({
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
