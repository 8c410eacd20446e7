/** Procedures: which there are, and one more run of one. */
import type { Device } from "@svc/store";
import { sopJson, type SopSummary } from "@svc/sop";
import { parseJson } from "@svc/kit";
import { errorReply, jsonReply, Reply } from "../http/reply.ts";
import type { GatewaySops } from "../types.ts";
import type { ApiRequest, ApiRoute } from "./app.ts";
import { type BodyLimits, bodyBytes } from "./body.ts";
import * as spec from "./sop-specs.ts";

export const sopRoutes = (sops: GatewaySops, limits: BodyLimits): ApiRoute[] => [
  {
    ...spec.LIST,
    handle: ({ device: { scope } }) =>
      jsonReply(200, {
        sops: sops.list().map((summary) => sopJson(scope === "operator" ? summary : withoutWords(summary))),
        broken: sops.broken().map(({ name, problem }) => ({ name, problem })),
      }),
  },
  { ...spec.START, handle: (request) => started(sops, request, limits) },
];

/** Why a run ended may be what somebody wrote who was asked: an operator's to read. */
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
