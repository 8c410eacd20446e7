/** Runs of procedures. An operator's to see: payloads and outputs are other people's words. */
import type { Json } from "@svc/contract";
import { runDetailJson, runJson, type SopRunFilter } from "@svc/sop";
import { jsonReply } from "../http/reply.ts";
import type { GatewayApprovals, GatewaySops } from "../types.ts";
import type { ApiRequest, ApiRoute } from "./app.ts";
import { limitOf } from "./fields.ts";
import * as spec from "./sop-run-specs.ts";
import { byDevice } from "./sops.ts";

export const sopRunRoutes = (sops: GatewaySops, approvals: Pick<GatewayApprovals, "get">): ApiRoute[] => [
  { ...spec.LIST, handle: ({ query }) => jsonReply(200, listed(sops, query)) },
  {
    ...spec.SHOW,
    handle: ({ params }) =>
      jsonReply(
        200,
        runDetailJson(sops.readRun(idOf(params)), (key) => approvals.get(key)),
      ),
  },
  {
    ...spec.CANCEL,
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
