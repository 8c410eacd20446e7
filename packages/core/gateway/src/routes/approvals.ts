/** Approvals: what waits for a person, and the rules that answer without one. For operators: they are other people's words. */
import { integer, type Json, SvcError } from "@svc/contract";
import { type Approvals, type ApprovalFilter, approvalJson, type ApprovalKey } from "@svc/sop";
import * as v from "valibot";
import { errorReply, jsonReply, Reply } from "../http/reply.ts";
import { before, cursor, limit, limitOf, name, oneOf, time } from "./fields.ts";
import { type ApiRequest, type ApiRoute, type ApiSpec, type BodyLimits, jsonBody } from "./route.ts";

/** What the gateway asks of approvals. */
export type GatewayApprovals = Pick<Approvals, "get" | "list" | "resolve">;

/** A call that runs without asking, because a person said always to it. */
export interface PolicyRule {
  readonly id: string;
  readonly agent: string;
  readonly tool: string;
  /** All that has to be equal. */
  readonly pattern: string;
}

/** Rules of the config in force. */
export interface PolicyRules {
  list(): readonly PolicyRule[];
  /** Resolves once it is out of force; false: there is no such rule. Rejects with CONFIG_*, STORE_*. */
  revoke(id: string, by: string): Promise<boolean>;
}

const STATUSES = ["waiting", "approved", "rejected", "expired", "cancelled"] as const;

const HOLDS = ["once", "conversation", "always"] as const;

export const APPROVAL = v.object({
  n: v.pipe(integer(1), v.description("People call it #12.")),
  run_id: v.string(),
  step_id: v.string(),
  origin: v.pipe(
    v.picklist(["external", "sop", "tool"]),
    v.description("Who wants it: an outside workflow, a step of a procedure, or a tool call of the agent."),
  ),
  title: v.string(),
  message: v.string(),
  approve_keywords: v.array(v.string()),
  reject_keywords: v.array(v.string()),
  channels: v.pipe(v.array(v.string()), v.description("As the outside workflow named them.")),
  asked_by: v.string(),
  status: v.picklist(STATUSES),
  created_at: time(),
  expires_at: time(),
  prompts: v.pipe(
    v.array(v.object({ channel: v.string(), conversation: v.string(), thread: v.nullable(v.string()) })),
    v.description("Where it was posted."),
  ),
  answer: v.nullable(
    v.object({
      approved: v.boolean(),
      feedback: v.nullable(v.string()),
      by: v.pipe(v.string(), v.description("Who answered, or why there was no answer.")),
      via: v.picklist(["chat", "api", "page", "cli", "agent", "service"]),
      at: time(),
      holds: v.pipe(v.nullable(v.picklist(HOLDS)), v.description("Of a yes: for how long.")),
    }),
  ),
  detail: v.pipe(
    v.nullable(
      v.object({
        tool: v.string(),
        agent: v.string(),
        reason: v.pipe(v.string(), v.description("The rule that asks.")),
        summary: v.pipe(v.string(), v.description("The call in one line.")),
        command: v.optional(v.string()),
        folder: v.optional(v.pipe(v.string(), v.description("Where the command runs, below the workspace."))),
        change: v.optional(
          v.object({
            path: v.string(),
            mode: v.picklist(["replace", "append"]),
            before: v.pipe(
              v.picklist(["text", "binary", "large", "missing", "unreadable"]),
              v.description("What was there when it was asked."),
            ),
            lines: v.pipe(
              v.array(v.string()),
              v.description("Each behind +, - or a blank; @ stands for lines that stay and are left out."),
            ),
            added: integer(0),
            removed: integer(0),
            cut: v.pipe(integer(0), v.description("Lines that are not shown.")),
          }),
        ),
        input: v.optional(v.pipe(v.string(), v.description("The other arguments, as JSON."))),
      }),
    ),
    v.description("For a tool call: its effect, without secrets."),
  ),
  offers: v.pipe(
    v.object({
      conversation: v.nullable(v.string()),
      always: v.nullable(v.string()),
      reason: v.pipe(v.nullable(v.string()), v.description("Why one of them is null.")),
    }),
    v.description("What `holds` may be beside once, and the pattern of calls that it would cover."),
  ),
});

const LIST: ApiSpec = {
  method: "GET",
  path: "/api/approvals",
  access: "operate",
  summary: "Lists what waits, or waited, for a person's yes, the newest first.",
  query: { status: oneOf(STATUSES), limit: limit("approvals"), before: before() },
  answers: {
    200: { description: "A page.", body: v.object({ approvals: v.array(APPROVAL), before: cursor("approvals") }) },
  },
};

const ANSWER_BODY = v.object({
  approved: v.boolean(),
  feedback: v.optional(v.pipe(v.string(), v.maxLength(4_096), v.description("Text for the asker."))),
  holds: v.optional(v.pipe(v.picklist(HOLDS), v.description("Of a yes: for how long. See `offers`."))),
});

const ANSWER: ApiSpec = {
  method: "POST",
  path: "/api/approvals/{run_id}/{step_id}",
  access: "operate",
  summary: "Answers an approval request. The first answer counts.",
  details: "The error for a late answer names who answered first (by) and when (at).",
  params: { run_id: name("Percent-encoded."), step_id: name("Percent-encoded.") },
  body: ANSWER_BODY,
  answers: { 200: { description: "The approval, with the answer.", body: APPROVAL } },
  errors: [
    "BAD_REQUEST",
    "APPROVAL_UNKNOWN",
    "APPROVAL_RESOLVED",
    "APPROVAL_EXPIRED",
    "RULE_NOT_SAVED",
    "STORE_FULL",
    "STORE_FAILED",
  ],
};

export const APPROVAL_SPECS = [LIST, ANSWER];

export const approvalRoutes = (approvals: GatewayApprovals, limits: BodyLimits): ApiRoute[] => [
  { ...LIST, handle: ({ query }) => jsonReply(200, listed(approvals, query)) },
  { ...ANSWER, handle: (request) => answered(approvals, request, limits) },
];

function listed(approvals: GatewayApprovals, query: ApiRequest["query"]): Json {
  const { status, before } = query as ApprovalFilter;
  const filter = { ...(status && { status }), ...(before !== undefined && { before }) };
  const page = approvals.list(filter, limitOf(query));
  return { approvals: page.approvals.map(approvalJson), before: page.next ?? null };
}

async function answered(approvals: GatewayApprovals, request: ApiRequest, limits: BodyLimits): Promise<Reply> {
  const body = await jsonBody(request, ANSWER_BODY, limits);
  if (body instanceof Reply) return body;
  const { approved, feedback = "", holds } = body as v.InferOutput<typeof ANSWER_BODY>;
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

// Calls that run without asking, because a person said always to them.

const RULE = v.object({
  id: name("For DELETE /api/policy-rules/{id}."),
  agent: v.string(),
  tool: v.string(),
  pattern: v.pipe(v.string(), v.description("All that has to be equal in a call.")),
});

const LIST_RULES: ApiSpec = {
  method: "GET",
  path: "/api/policy-rules",
  access: "operate",
  summary: "Lists the calls that run without asking, because a person said always to them.",
  details: "They are security.policy.always of the config in force.",
  answers: { 200: { description: "The rules.", body: v.object({ rules: v.array(RULE) }) } },
};

const REVOKE_RULE: ApiSpec = {
  method: "DELETE",
  path: "/api/policy-rules/{id}",
  access: "operate",
  summary: "Revokes a rule: from now on such calls ask again.",
  params: { id: name("The rule's id.") },
  answers: {
    200: { description: "It is out of force.", body: v.object({ id: v.string(), revoked: v.literal(true) }) },
  },
  errors: ["RULE_UNKNOWN", "CONFIG_INVALID", "CONFIG_CHANGED", "CONFIG_UNWRITABLE", "STORE_FULL", "STORE_FAILED"],
};

export const POLICY_RULE_SPECS = [LIST_RULES, REVOKE_RULE];

export const policyRuleRoutes = (rules: PolicyRules): ApiRoute[] => [
  {
    ...LIST_RULES,
    handle: () =>
      jsonReply(200, { rules: rules.list().map(({ id, agent, tool, pattern }) => ({ id, agent, tool, pattern })) }),
  },
  {
    ...REVOKE_RULE,
    async handle({ device, params }) {
      const id = params["id"] ?? "";
      if (!(await rules.revoke(id, device.name))) throw new SvcError("RULE_UNKNOWN");
      return jsonReply(200, { id, revoked: true });
    },
  },
];
