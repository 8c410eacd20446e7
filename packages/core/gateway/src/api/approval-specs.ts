/** The routes of approvals as data. */
import { integer } from "@svc/contract";
import * as v from "valibot";
import type { ApiRoute } from "./app.ts";
import { before, cursor, limit, name, oneOf, time } from "./fields.ts";

type Spec = Omit<ApiRoute, "handle">;

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
      by: v.pipe(v.string(), v.description("Who answered, or why nobody did.")),
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
    v.description("Of a tool call: what it would do, without secrets."),
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

export const LIST: Spec = {
  method: "GET",
  path: "/api/approvals",
  access: "operate",
  summary: "Lists what waits, or waited, for a person's yes, the newest first.",
  query: { status: oneOf(STATUSES), limit: limit("approvals"), before: before() },
  answers: {
    200: { description: "A page.", body: v.object({ approvals: v.array(APPROVAL), before: cursor("approvals") }) },
  },
};

export const ANSWER_BODY = v.object({
  approved: v.boolean(),
  feedback: v.optional(v.pipe(v.string(), v.maxLength(4_096), v.description("For whoever asked."))),
  holds: v.optional(v.pipe(v.picklist(HOLDS), v.description("Of a yes: for how long. See `offers`."))),
});

export const ANSWER: Spec = {
  method: "POST",
  path: "/api/approvals/{run_id}/{step_id}",
  access: "operate",
  summary: "Answers an approval request. The first answer counts.",
  details: "Who comes too late is told in the error who was first (by) and when (at).",
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
