/** The routes of procedures as data. */
import { integer } from "@svc/contract";
import * as v from "valibot";
import type { ApiRoute } from "./app.ts";
import { name, time } from "./fields.ts";
import { RUN } from "./sop-run-specs.ts";

type Spec = Omit<ApiRoute, "handle">;

const TRIGGER = v.object({
  type: v.picklist(["webhook", "cron", "channel_event", "mqtt", "peripheral", "manual"]),
  condition: v.nullable(v.string()),
  path: v.optional(v.pipe(v.string(), v.description("Of webhook."))),
  expression: v.optional(v.pipe(v.string(), v.description("Of cron, as the next two."))),
  timezone: v.optional(v.nullable(v.string())),
  next_at: v.optional(v.nullable(time())),
  event: v.optional(v.pipe(v.string(), v.description("Of channel_event."))),
  topic: v.optional(v.pipe(v.string(), v.description("Of mqtt: a topic filter."))),
  board: v.optional(v.pipe(v.string(), v.description("Of peripheral, as the next: the board's alias."))),
  signal: v.optional(v.string()),
});

const STEP = v.object({
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

const SOP = v.object({
  name: v.string(),
  enabled: v.pipe(v.boolean(), v.description("False: nothing starts it but tests.")),
  description: v.string(),
  version: v.string(),
  priority: v.picklist(["low", "normal", "high", "critical"]),
  execution_mode: v.picklist(["auto", "supervised", "step_by_step", "priority_based", "deterministic"]),
  cooldown_secs: v.number(),
  max_concurrent: v.number(),
  agent: v.nullable(v.string()),
  triggers: v.array(TRIGGER),
  steps: v.array(STEP),
  active_runs: integer(0),
  last_run: v.nullable(RUN),
  problem: v.pipe(
    v.nullable(v.string()),
    v.description("The files are wrong since they were changed; the version before counts."),
  ),
});

export const LIST: Spec = {
  method: "GET",
  path: "/api/sops",
  access: "read",
  summary: "Lists procedures, in the order of their names.",
  answers: {
    200: {
      description: "Those that can run, and those whose files never were right.",
      body: v.object({
        sops: v.array(SOP),
        broken: v.array(v.object({ name: v.string(), problem: v.string() })),
      }),
    },
  },
};

export const START: Spec = {
  method: "POST",
  path: "/api/sops/{name}/runs",
  access: "operate",
  summary: "Starts a procedure that has a manual trigger.",
  details: "The body, if any, is its payload: any JSON.",
  params: { name: name("The procedure's name.") },
  body: v.unknown(),
  bodyOptional: true,
  answers: {
    202: { description: "Its run is on disk.", body: v.object({ sop: v.string(), run_id: v.string() }) },
  },
  errors: ["SOP_UNKNOWN", "SOP_NOT_MANUAL", "SOP_DISABLED", "SOP_BUSY", "STORE_FULL", "STORE_FAILED"],
};

export const SOP_SPECS = [LIST, START];
