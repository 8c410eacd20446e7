/** Approvals, and the rules that answer requests without a person. */
import { integer } from "@svc/contract";
import * as v from "valibot";
import { before, cursor, limit, name, oneOf, time, type Output, type ParametersOutput } from "./schema.ts";

const STATUSES = ["waiting", "approved", "rejected", "expired", "cancelled"] as const;

const HOLDS = ["once", "conversation", "always"] as const;

export const FileChange = v.object({
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
});
export type FileChange = Output<typeof FileChange>;

/** A tool call as people are shown it. */
export const ApprovalDetail = v.object({
  tool: v.string(),
  agent: v.string(),
  reason: v.pipe(v.string(), v.description("The rule that asks.")),
  summary: v.pipe(v.string(), v.description("The call in one line.")),
  command: v.exactOptional(v.string()),
  folder: v.exactOptional(v.pipe(v.string(), v.description("Where the command runs, below the workspace."))),
  change: v.exactOptional(FileChange),
  input: v.exactOptional(v.pipe(v.string(), v.description("The other arguments, as JSON."))),
});
export type ApprovalDetail = Output<typeof ApprovalDetail>;

export const Approval = v.object({
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
  detail: v.pipe(v.nullable(ApprovalDetail), v.description("For a tool call: its effect, without secrets.")),
  offers: v.pipe(
    v.object({
      conversation: v.nullable(v.string()),
      always: v.nullable(v.string()),
      reason: v.pipe(v.nullable(v.string()), v.description("Why one of them is null.")),
    }),
    v.description("What `holds` may be beside once, and the pattern of calls that it would cover."),
  ),
});
export type Approval = Output<typeof Approval>;

export const ApprovalPage = v.object({ approvals: v.array(Approval), before: cursor("approvals") });
export type ApprovalPage = Output<typeof ApprovalPage>;

export const ApprovalQuery = { status: oneOf(STATUSES), limit: limit("approvals"), before: before() };
export type ApprovalQuery = ParametersOutput<typeof ApprovalQuery>;

export const ApprovalAnswer = v.object({
  approved: v.boolean(),
  feedback: v.exactOptional(v.pipe(v.string(), v.maxLength(4_096), v.description("Text for the asker."))),
  holds: v.exactOptional(v.pipe(v.picklist(HOLDS), v.description("Of a yes: for how long. See `offers`."))),
});
export type ApprovalAnswer = Output<typeof ApprovalAnswer>;

/** A call that runs without asking, because a person said always to it. */
export const PolicyRule = v.object({
  id: name("For DELETE /api/policy-rules/{id}."),
  agent: v.string(),
  tool: v.string(),
  pattern: v.pipe(v.string(), v.description("All that has to be equal in a call.")),
});
export type PolicyRule = Output<typeof PolicyRule>;

export const PolicyRuleList = v.object({ rules: v.array(PolicyRule) });
export type PolicyRuleList = Output<typeof PolicyRuleList>;

export const PolicyRuleRevoked = v.object({ id: v.string(), revoked: v.literal(true) });
export type PolicyRuleRevoked = Output<typeof PolicyRuleRevoked>;
