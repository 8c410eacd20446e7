/** Procedures and their runs. */
import { type ErrorCode, ERRORS, integer } from "@svc/contract";
import * as v from "valibot";
import { Approval } from "./approvals.ts";
import {
  anyJson,
  before,
  cursor,
  filter,
  limit,
  name,
  oneOf,
  time,
  type Output,
  type ParametersOutput,
} from "./schema.ts";

const STATUSES = ["pending", "running", "waiting_approval", "completed", "failed", "cancelled"] as const;

export const SopRunStatus = v.picklist(STATUSES);
export type SopRunStatus = Output<typeof SopRunStatus>;

export const SopRun = v.object({
  id: name("For the paths below."),
  n: v.pipe(integer(1), v.description("Order of being started.")),
  sop: v.string(),
  status: SopRunStatus,
  mode: v.string(),
  step: v.pipe(integer(0), v.description("The current or last step, from 1.")),
  source: v.string(),
  topic: v.pipe(v.string(), v.description("The path, the event or the cron expression that started it.")),
  started_by: v.string(),
  started_at: time(),
  ended_at: v.nullable(time()),
  error: v.nullable(v.picklist(Object.keys(ERRORS) as ErrorCode[])),
  reason: v.pipe(v.nullable(v.string()), v.description("Why it ended as it did.")),
  test: v.pipe(v.boolean(), v.description("Started to try the procedure out.")),
  retry_of: v.pipe(v.nullable(v.string()), v.description("The run whose finished steps it took over.")),
  first_step: v.pipe(integer(1), v.description("The first step that it did itself.")),
});
export type SopRun = Output<typeof SopRun>;

export const SopRunPage = v.object({ runs: v.array(SopRun), before: cursor("runs") });
export type SopRunPage = Output<typeof SopRunPage>;

export const SopRunQuery = {
  sop: filter("a procedure's name", 128),
  status: oneOf(STATUSES),
  source: oneOf(["webhook", "channel_event", "cron", "mqtt", "peripheral", "manual"]),
  test: oneOf(["true", "false"]),
  limit: limit("runs"),
  before: before(),
};
export type SopRunQuery = ParametersOutput<typeof SopRunQuery>;

export const SopRunStep = v.object({
  number: integer(1),
  title: v.string(),
  kind: v.picklist(["execute", "checkpoint"]),
  status: SopRunStatus,
  started_at: v.nullable(time()),
  ended_at: v.nullable(time()),
  output: v.pipe(anyJson, v.description("What the next step is given.")),
  acted_in: v.pipe(v.nullable(v.string()), v.description("The earlier run in which it may have acted already.")),
  approval: v.pipe(v.nullable(Approval), v.description("The one it asked for.")),
});
export type SopRunStep = Output<typeof SopRunStep>;

export const SopRunDetail = v.object({
  ...SopRun.entries,
  payload: v.pipe(v.nullable(v.string()), v.description("JSON text, as it came.")),
  steps: v.array(SopRunStep),
});
export type SopRunDetail = Output<typeof SopRunDetail>;

export const SopTrigger = v.object({
  type: v.picklist(["webhook", "cron", "channel_event", "mqtt", "peripheral", "manual"]),
  condition: v.nullable(v.string()),
  path: v.exactOptional(v.pipe(v.string(), v.description("Of webhook."))),
  expression: v.exactOptional(v.pipe(v.string(), v.description("Of cron, as the next two."))),
  timezone: v.exactOptional(v.nullable(v.string())),
  next_at: v.exactOptional(v.nullable(time())),
  event: v.exactOptional(v.pipe(v.string(), v.description("Of channel_event."))),
  topic: v.exactOptional(v.pipe(v.string(), v.description("Of mqtt: a topic filter."))),
  board: v.exactOptional(v.pipe(v.string(), v.description("Of peripheral, as the next: the board's alias."))),
  signal: v.exactOptional(v.string()),
});
export type SopTrigger = Output<typeof SopTrigger>;

export const SopStep = v.object({
  number: integer(1),
  title: v.string(),
  kind: v.picklist(["execute", "checkpoint"]),
  tools: v.array(v.string()),
  requires_confirmation: v.boolean(),
  agent: v.pipe(
    v.nullable(v.string()),
    v.description("Program of the child agent that does it; null: the agent does."),
  ),
});
export type SopStep = Output<typeof SopStep>;

export const Sop = v.object({
  name: v.string(),
  enabled: v.pipe(v.boolean(), v.description("False: nothing starts it but tests.")),
  description: v.string(),
  version: v.string(),
  priority: v.picklist(["low", "normal", "high", "critical"]),
  execution_mode: v.picklist(["auto", "supervised", "step_by_step", "priority_based", "deterministic"]),
  cooldown_secs: v.number(),
  max_concurrent: v.number(),
  agent: v.nullable(v.string()),
  triggers: v.array(SopTrigger),
  steps: v.array(SopStep),
  active_runs: integer(0),
  last_run: v.nullable(SopRun),
  problem: v.pipe(
    v.nullable(v.string()),
    v.description("The files are wrong since they were changed; the version before counts."),
  ),
});
export type Sop = Output<typeof Sop>;

export const SopList = v.object({
  sops: v.array(Sop),
  broken: v.array(v.object({ name: v.string(), problem: v.string() })),
});
export type SopList = Output<typeof SopList>;

export const SopPayload = anyJson;

/** The answer of a path that starts procedures. */
export const SopsStarted = v.object({
  runs: v.array(v.object({ sop: v.string(), run_id: v.string() })),
  skipped: v.array(v.object({ sop: v.string(), reason: v.string() })),
});
export type SopsStarted = Output<typeof SopsStarted>;

export const SopRunStarted = v.object({ sop: v.string(), run_id: v.string() });
export type SopRunStarted = Output<typeof SopRunStarted>;
