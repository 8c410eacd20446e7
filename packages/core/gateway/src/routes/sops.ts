/** Procedures and their runs. */
import { name, SopList, SopPayload, SopRun, SopRunDetail, SopRunPage, SopRunQuery, SopRunStarted } from "@svc/api";
import { parseJson } from "@svc/kit";
import { runDetailJson, runJson, sopJson, type SopSummary, type Sops } from "@svc/sop";
import type { Device } from "@svc/store";
import { errorReply, Reply } from "../http/reply.ts";
import type { GatewayApprovals } from "./approvals.ts";
import {
  type ApiRequest,
  apiRoute,
  type ApiRoute,
  type ApiSpec,
  bodyBytes,
  type BodyLimits,
  limitOf,
  respond,
} from "./route.ts";

/** What the gateway asks of procedures. */
export type GatewaySops = Pick<
  Sops,
  "hasPath" | "dispatchIn" | "run" | "test" | "retry" | "calendar" | "list" | "broken" | "runs" | "readRun" | "cancel"
> & { readonly audit: Pick<Sops["audit"], "list"> };

const params = { id: name("The run's id.") };

const LIST_RUNS = {
  method: "GET",
  path: "/api/sop-runs",
  access: "operate",
  summary: "Lists runs of procedures, the newest first.",
  query: SopRunQuery,
  answers: { 200: { description: "A page.", body: SopRunPage } },
} satisfies ApiSpec;

const SHOW_RUN = {
  method: "GET",
  path: "/api/sop-runs/{id}",
  access: "operate",
  summary: "Shows a run and each of its steps.",
  params,
  answers: { 200: { description: "The run.", body: SopRunDetail } },
  errors: ["SOP_RUN_UNKNOWN"],
} satisfies ApiSpec;

const CANCEL_RUN = {
  method: "POST",
  path: "/api/sop-runs/{id}/cancel",
  access: "operate",
  summary: "Ends a run. The step that runs is called off.",
  params,
  answers: { 200: { description: "It has ended.", body: SopRun } },
  errors: ["SOP_RUN_UNKNOWN", "SOP_RUN_ENDED", "STORE_FULL", "STORE_FAILED"],
} satisfies ApiSpec;

export const SOP_RUN_SPECS = [LIST_RUNS, SHOW_RUN, CANCEL_RUN];

const LIST = {
  method: "GET",
  path: "/api/sops",
  access: "read",
  summary: "Lists procedures, in the order of their names.",
  answers: {
    200: {
      description: "Those that can run, and those whose files never were right.",
      body: SopList,
    },
  },
} satisfies ApiSpec;

const START = {
  method: "POST",
  path: "/api/sops/{name}/runs",
  access: "operate",
  summary: "Starts a procedure that has a manual trigger.",
  details: "The body, if any, is its payload: any JSON.",
  params: { name: name("The procedure's name.") },
  body: SopPayload,
  bodyOptional: true,
  answers: {
    202: { description: "Its run is on disk.", body: SopRunStarted },
  },
  errors: ["SOP_UNKNOWN", "SOP_NOT_MANUAL", "SOP_DISABLED", "SOP_BUSY", "STORE_FULL", "STORE_FAILED"],
} satisfies ApiSpec;

export const SOP_SPECS = [LIST, START];

export const sopRoutes = (sops: GatewaySops, limits: BodyLimits): ApiRoute[] => [
  apiRoute(LIST, ({ device: { scope } }) =>
    respond(LIST, 200, {
      sops: sops.list().map((summary) => sopJson(scope === "operator" ? summary : withoutWords(summary))),
      broken: sops.broken().map(({ name, problem }) => ({ name, problem })),
    }),
  ),
  apiRoute(START, (request) => started(sops, request, limits)),
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
  return respond(START, 202, { sop: run.sop, run_id: run.id });
}

// Runs of procedures. An operator's to see: payloads and outputs are other people's words.

export const sopRunRoutes = (sops: GatewaySops, approvals: Pick<GatewayApprovals, "get">): ApiRoute[] => [
  apiRoute(LIST_RUNS, ({ query }) => respond(LIST_RUNS, 200, listed(sops, query))),
  apiRoute(SHOW_RUN, ({ params }) => {
    const run = sops.readRun(idOf(params));
    return respond(
      SHOW_RUN,
      200,
      runDetailJson(run, (key) => approvals.get(key)),
    );
  }),
  apiRoute(CANCEL_RUN, async ({ params, device }) =>
    respond(CANCEL_RUN, 200, runJson(await sops.cancel(idOf(params), byDevice(device)))),
  ),
];

const idOf = (params: ApiRequest["params"]): string => params["id"] ?? "";

function listed(sops: GatewaySops, { sop, status, source, test, before, ...query }: SopRunQuery): SopRunPage {
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
