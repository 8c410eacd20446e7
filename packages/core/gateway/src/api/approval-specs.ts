/** The routes of approvals as data. */
import { integer } from "@svc/contract";
import * as v from "valibot";
import type { ApiRoute } from "./app.ts";
import { before, cursor, limit, name, oneOf, time } from "./fields.ts";

type Spec = Omit<ApiRoute, "handle">;

const STATUSES = ["waiting", "approved", "rejected", "expired", "cancelled"] as const;

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
    }),
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
  errors: ["APPROVAL_UNKNOWN", "APPROVAL_RESOLVED", "APPROVAL_EXPIRED", "STORE_FULL", "STORE_FAILED"],
};

export const APPROVAL_SPECS = [LIST, ANSWER];
