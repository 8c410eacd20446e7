/** Approvals: what waits for a person, and the rules that answer without one. For operators: they are other people's words. */
import {
  Approval,
  ApprovalAnswer,
  ApprovalPage,
  ApprovalQuery,
  name,
  type PolicyRule,
  PolicyRuleList,
  PolicyRuleRevoked,
} from "@svc/api";
import { SvcError } from "@svc/contract";
import { type Approvals, approvalJson, type ApprovalKey } from "@svc/sop";
import { errorReply, Reply } from "../http/reply.ts";
import {
  type ApiRequest,
  apiRoute,
  type ApiRoute,
  type ApiSpec,
  type BodyLimits,
  jsonBody,
  limitOf,
  respond,
} from "./route.ts";

/** What the gateway asks of approvals. */
export type GatewayApprovals = Pick<Approvals, "get" | "list" | "resolve">;

/** Rules of the config in force. */
export interface PolicyRules {
  list(): readonly PolicyRule[];
  /** Resolves once it is out of force; false: there is no such rule. Rejects with CONFIG_*, STORE_*. */
  revoke(id: string, by: string): Promise<boolean>;
}

const LIST = {
  method: "GET",
  path: "/api/approvals",
  access: "operate",
  summary: "Lists what waits, or waited, for a person's yes, the newest first.",
  query: ApprovalQuery,
  answers: {
    200: { description: "A page.", body: ApprovalPage },
  },
} satisfies ApiSpec;

const ANSWER = {
  method: "POST",
  path: "/api/approvals/{run_id}/{step_id}",
  access: "operate",
  summary: "Answers an approval request. The first answer counts.",
  details: "The error for a late answer names who answered first (by) and when (at).",
  params: { run_id: name("Percent-encoded."), step_id: name("Percent-encoded.") },
  body: ApprovalAnswer,
  answers: { 200: { description: "The approval, with the answer.", body: Approval } },
  errors: [
    "BAD_REQUEST",
    "APPROVAL_UNKNOWN",
    "APPROVAL_RESOLVED",
    "APPROVAL_EXPIRED",
    "RULE_NOT_SAVED",
    "STORE_FULL",
    "STORE_FAILED",
  ],
} satisfies ApiSpec;

export const APPROVAL_SPECS = [LIST, ANSWER];

export const approvalRoutes = (approvals: GatewayApprovals, limits: BodyLimits): ApiRoute[] => [
  apiRoute(LIST, ({ query }) => respond(LIST, 200, listed(approvals, query))),
  apiRoute(ANSWER, (request) => answered(approvals, request, limits)),
];

function listed(approvals: GatewayApprovals, { status, before, ...query }: ApprovalQuery): ApprovalPage {
  const filter = { ...(status && { status }), ...(before !== undefined && { before }) };
  const page = approvals.list(filter, limitOf(query));
  return { approvals: page.approvals.map(approvalJson), before: page.next ?? null };
}

async function answered(approvals: GatewayApprovals, request: ApiRequest, limits: BodyLimits): Promise<Reply> {
  const body = await jsonBody(request, ApprovalAnswer, limits);
  if (body instanceof Reply) return body;
  const { approved, feedback = "", holds } = body;
  const { device, principal, params } = request;
  const key = { runId: params["run_id"] ?? "", stepId: params["step_id"] ?? "" };
  try {
    const answer = { approved, ...(feedback.trim() !== "" && { feedback }), by: device.name, holds };
    const approval = await approvals.resolve(key, { ...answer, via: principal.signIn ? "page" : "api" });
    return respond(ANSWER, 200, approvalJson(approval));
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

// Calls that run without asking, because a person said always to them.

const LIST_RULES = {
  method: "GET",
  path: "/api/policy-rules",
  access: "operate",
  summary: "Lists the calls that run without asking, because a person said always to them.",
  details: "They are security.policy.always of the config in force.",
  answers: { 200: { description: "The rules.", body: PolicyRuleList } },
} satisfies ApiSpec;

const REVOKE_RULE = {
  method: "DELETE",
  path: "/api/policy-rules/{id}",
  access: "operate",
  summary: "Revokes a rule: from now on such calls ask again.",
  params: { id: name("The rule's id.") },
  answers: {
    200: { description: "It is out of force.", body: PolicyRuleRevoked },
  },
  errors: ["RULE_UNKNOWN", "CONFIG_INVALID", "CONFIG_CHANGED", "CONFIG_UNWRITABLE", "STORE_FULL", "STORE_FAILED"],
} satisfies ApiSpec;

export const POLICY_RULE_SPECS = [LIST_RULES, REVOKE_RULE];

export const policyRuleRoutes = (rules: PolicyRules): ApiRoute[] => [
  apiRoute(LIST_RULES, () =>
    respond(LIST_RULES, 200, {
      rules: rules.list().map(({ id, agent, tool, pattern }) => ({ id, agent, tool, pattern })),
    }),
  ),
  apiRoute(REVOKE_RULE, async ({ device, params }) => {
    const id = params["id"] ?? "";
    if (!(await rules.revoke(id, device.name))) throw new SvcError("RULE_UNKNOWN");
    return respond(REVOKE_RULE, 200, { id, revoked: true });
  }),
];
