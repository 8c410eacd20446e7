/** Procedures and their runs. */
import { type ErrorCode, ERRORS, integer, type Json } from "@svc/contract";
import { parseJson } from "@svc/kit";
import { runDetailJson, runJson, sopJson, type SopRunFilter, type SopSummary, type Sops } from "@svc/sop";
import type { Device } from "@svc/store";
import * as v from "valibot";
import { errorReply, jsonReply, Reply } from "../http/reply.ts";
import { APPROVAL, type GatewayApprovals } from "./approvals.ts";
import { before, cursor, limit, limitOf, name, oneOf, time } from "./fields.ts";
import { type ApiRequest, type ApiRoute, type ApiSpec, bodyBytes, type BodyLimits } from "./route.ts";

/** What the gateway asks of procedures. */
export type GatewaySops = Pick<
  Sops,
  "hasPath" | "dispatchIn" | "run" | "test" | "retry" | "calendar" | "list" | "broken" | "runs" | "readRun" | "cancel"
> & { readonly audit: Pick<Sops["audit"], "list"> };

const STATUSES = ["pending", "running", "waiting_approval", "completed", "failed", "cancelled"] as const;

export const RUN = v.object({
  id: name("For the paths below."),
  n: v.pipe(integer(1), v.description("Order of being started.")),
  sop: v.string(),
  status: v.picklist(STATUSES),
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

const RUN_STEP = v.object({
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
  steps: v.array(RUN_STEP),
});

const params = { id: name("The run's id.") };

const LIST_RUNS: ApiSpec = {
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

const SHOW_RUN: ApiSpec = {
  method: "GET",
  path: "/api/sop-runs/{id}",
  access: "operate",
  summary: "Shows a run and each of its steps.",
  params,
  answers: { 200: { description: "The run.", body: DETAIL } },
  errors: ["SOP_RUN_UNKNOWN"],
};

const CANCEL_RUN: ApiSpec = {
  method: "POST",
  path: "/api/sop-runs/{id}/cancel",
  access: "operate",
  summary: "Ends a run. The step that runs is called off.",
  params,
  answers: { 200: { description: "It has ended.", body: RUN } },
  errors: ["SOP_RUN_UNKNOWN", "SOP_RUN_ENDED", "STORE_FULL", "STORE_FAILED"],
};

export const SOP_RUN_SPECS = [LIST_RUNS, SHOW_RUN, CANCEL_RUN];

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

const LIST: ApiSpec = {
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

const START: ApiSpec = {
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

export const sopRoutes = (sops: GatewaySops, limits: BodyLimits): ApiRoute[] => [
  {
    ...LIST,
    handle: ({ device: { scope } }) =>
      jsonReply(200, {
        sops: sops.list().map((summary) => sopJson(scope === "operator" ? summary : withoutWords(summary))),
        broken: sops.broken().map(({ name, problem }) => ({ name, problem })),
      }),
  },
  { ...START, handle: (request) => started(sops, request, limits) },
];

/** The reason of a run's end may quote a person's answer: only an operator may read it. */
function withoutWords(summary: SopSummary): SopSummary {
  const { lastRun } = summary;
  return lastRun ? { ...summary, lastRun: { ...lastRun, reason: undefined } } : summary;
}

/** As the audit log has it: who does what a device did. */
export const byDevice = ({ name }: Pick<Device, "name">): string => `device ${name}`;

async function started(sops: GatewaySops, request: ApiRequest, limits: BodyLimits): Promise<Reply> {
  const body = await bodyBytes(request, limits);
  if (body instanceof Reply) return body;
  if (body.length > 0 && parseJson(body) === undefined) return errorReply("BAD_JSON");
  const payload = body.length === 0 ? null : body.toString("utf8");
  const run = await sops.run(request.params["name"] ?? "", payload, { by: byDevice(request.device) });
  return jsonReply(202, { sop: run.sop, run_id: run.id });
}

// Runs of procedures. An operator's to see: payloads and outputs are other people's words.

export const sopRunRoutes = (sops: GatewaySops, approvals: Pick<GatewayApprovals, "get">): ApiRoute[] => [
  { ...LIST_RUNS, handle: ({ query }) => jsonReply(200, listed(sops, query)) },
  {
    ...SHOW_RUN,
    handle: ({ params }) =>
      jsonReply(
        200,
        runDetailJson(sops.readRun(idOf(params)), (key) => approvals.get(key)),
      ),
  },
  {
    ...CANCEL_RUN,
    handle: async ({ params, device }) => jsonReply(200, runJson(await sops.cancel(idOf(params), byDevice(device)))),
  },
];

const idOf = (params: ApiRequest["params"]): string => params["id"] ?? "";

function listed(sops: GatewaySops, query: ApiRequest["query"]): Json {
  const { sop, status, source, before } = query as SopRunFilter;
  const test = query["test"] as "true" | "false" | undefined;
  const filter = {
    ...(sop !== undefined && { sop }),
    ...(status && { status }),
    ...(source !== undefined && { source }),
    ...(test !== undefined && { test: test === "true" }),
    ...(before !== undefined && { before }),
  };
  const page = sops.runs(filter, limitOf(query));
  return { runs: page.runs.map(runJson), before: page.next ?? null };
}
