/** The routes of runs of procedures as data. */
import { ERRORS, type ErrorCode, integer } from "@svc/contract";
import * as v from "valibot";
import type { ApiRoute } from "./app.ts";
import { APPROVAL } from "./approval-specs.ts";
import { before, cursor, limit, name, oneOf, time } from "./fields.ts";

type Spec = Omit<ApiRoute, "handle">;

const STATUSES = ["pending", "running", "waiting_approval", "completed", "failed", "cancelled"] as const;

export const RUN = v.object({
  id: name("For the paths below."),
  n: v.pipe(integer(1), v.description("Order of being started.")),
  sop: v.string(),
  status: v.picklist(STATUSES),
  mode: v.string(),
  step: v.pipe(integer(0), v.description("The one that runs, waits, or was the last; from 1.")),
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

const STEP = v.object({
  number: integer(1),
  title: v.string(),
  kind: v.picklist(["execute", "checkpoint"]),
  status: v.picklist(STATUSES),
  started_at: v.nullable(time()),
  ended_at: v.nullable(time()),
  output: v.pipe(v.unknown(), v.description("What the next step is given.")),
  acted_in: v.pipe(v.nullable(v.string()), v.description("The earlier run in which it may have acted already.")),
  approval: v.pipe(v.nullable(APPROVAL), v.description("The one it asked for.")),
});

const DETAIL = v.object({
  ...RUN.entries,
  payload: v.pipe(v.nullable(v.string()), v.description("JSON text, as it came.")),
  steps: v.array(STEP),
});

const params = { id: name("The run's id.") };

export const LIST: Spec = {
  method: "GET",
  path: "/api/sop-runs",
  access: "operate",
  summary: "Lists runs of procedures, the newest first.",
  query: {
    sop: v.optional(v.pipe(v.string(), v.maxLength(128), v.description("a procedure's name"))),
    status: oneOf(STATUSES),
    source: oneOf(["webhook", "channel_event", "cron", "mqtt", "peripheral", "manual"]),
    test: oneOf(["true", "false"]),
    limit: limit("runs"),
    before: before(),
  },
  answers: { 200: { description: "A page.", body: v.object({ runs: v.array(RUN), before: cursor("runs") }) } },
};

export const SHOW: Spec = {
  method: "GET",
  path: "/api/sop-runs/{id}",
  access: "operate",
  summary: "Shows a run and each of its steps.",
  params,
  answers: { 200: { description: "The run.", body: DETAIL } },
  errors: ["SOP_RUN_UNKNOWN"],
};

export const CANCEL: Spec = {
  method: "POST",
  path: "/api/sop-runs/{id}/cancel",
  access: "operate",
  summary: "Ends a run. The step that runs is called off.",
  params,
  answers: { 200: { description: "It has ended.", body: RUN } },
  errors: ["SOP_RUN_UNKNOWN", "SOP_RUN_ENDED", "STORE_FULL", "STORE_FAILED"],
};

export const SOP_RUN_SPECS = [LIST, SHOW, CANCEL];
