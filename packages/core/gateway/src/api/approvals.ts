/** What waits for a person's yes. An operator's to see and to answer: they are other people's words. */
import { type Json, SvcError } from "@svc/contract";
import { type ApprovalFilter, type ApprovalKey, approvalJson } from "@svc/sop";
import type * as v from "valibot";
import { errorReply, jsonReply, Reply } from "../http/reply.ts";
import type { GatewayApprovals } from "../types.ts";
import * as spec from "./approval-specs.ts";
import type { ApiRequest, ApiRoute } from "./app.ts";
import { type BodyLimits, jsonBody } from "./body.ts";
import { limitOf } from "./fields.ts";

export const approvalRoutes = (approvals: GatewayApprovals, limits: BodyLimits): ApiRoute[] => [
  { ...spec.LIST, handle: ({ query }) => jsonReply(200, listed(approvals, query)) },
  { ...spec.ANSWER, handle: (request) => answered(approvals, request, limits) },
];

function listed(approvals: GatewayApprovals, query: ApiRequest["query"]): Json {
  const { status, before } = query as ApprovalFilter;
  const filter = { ...(status && { status }), ...(before !== undefined && { before }) };
  const page = approvals.list(filter, limitOf(query));
  return { approvals: page.approvals.map(approvalJson), before: page.next ?? null };
}

async function answered(approvals: GatewayApprovals, request: ApiRequest, limits: BodyLimits): Promise<Reply> {
  const body = await jsonBody(request, spec.ANSWER_BODY, limits);
  if (body instanceof Reply) return body;
  const { approved, feedback = "", holds } = body as v.InferOutput<typeof spec.ANSWER_BODY>;
  const { device, principal, params } = request;
  const key = { runId: params["run_id"] ?? "", stepId: params["step_id"] ?? "" };
  try {
    const answer = { approved, ...(feedback.trim() !== "" && { feedback }), by: device.name, holds };
    const approval = await approvals.resolve(key, { ...answer, via: principal.signIn ? "page" : "api" });
    return jsonReply(200, approvalJson(approval));
  } catch (error) {
    if (error instanceof SvcError && error.code === "APPROVAL_RESOLVED") return tooLate(approvals, key, error);
    throw error;
  }
}

/** A page shows who was first without reading it out of a sentence. */
function tooLate(approvals: GatewayApprovals, key: ApprovalKey, { code, message }: SvcError): Reply {
  const first = approvals.get(key)?.answer;
  const fields = first && { by: first.by, at: new Date(first.atMs).toISOString() };
  return errorReply(code, { message, ...(fields && { fields }) });
}
