/** Runs of procedures. An operator's to see: payloads and outputs are other people's words. */
import type { Json } from "@svc/contract";
import { type ApprovalKey, runDetailJson, runJson, type SopRunFilter } from "@svc/sop";
import type { Approval } from "@svc/store";
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
    handle: ({ params }) => jsonReply(200, runDetailJson(sops.readRun(idOf(params)), gateOf(approvals))),
  },
  {
    ...spec.CANCEL,
    handle: async ({ params, device }) => jsonReply(200, runJson(await sops.cancel(idOf(params), byDevice(device)))),
  },
];

const idOf = (params: ApiRequest["params"]): string => params["id"] ?? "";

/** An outside workflow may name its question like a step of ours: that does not make it the step's. */
const gateOf =
  (approvals: Pick<GatewayApprovals, "get">) =>
  (key: ApprovalKey): Approval | undefined => {
    const approval = approvals.get(key);
    return approval?.origin === "sop" ? approval : undefined;
  };

function listed(sops: GatewaySops, query: ApiRequest["query"]): Json {
  const { sop, status, before } = query as SopRunFilter;
  const filter = {
    ...(sop !== undefined && { sop }),
    ...(status && { status }),
    ...(before !== undefined && { before }),
  };
  const page = sops.runs(filter, limitOf(query));
  return { runs: page.runs.map(runJson), before: page.next ?? null };
}
