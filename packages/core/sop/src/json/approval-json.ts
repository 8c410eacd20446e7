/** An approval as /api and `svc approvals --json` show it. */
import type { Json } from "@svc/contract";
import type { Approval } from "@svc/store";
import { instant, orNull } from "./values.ts";

export const approvalJson = (approval: Approval): Json => {
  const { answer, status } = approval;
  return {
    n: approval.n,
    run_id: approval.runId,
    step_id: approval.stepId,
    origin: approval.origin,
    title: approval.title,
    message: approval.message,
    approve_keywords: [...approval.approveKeywords],
    reject_keywords: [...approval.rejectKeywords],
    channels: [...approval.channels],
    asked_by: approval.askedBy,
    status,
    created_at: instant(approval.createdAtMs),
    expires_at: instant(approval.expiresAtMs),
    prompts: approval.prompts.map(({ conversation, opened }) => ({
      channel: conversation.channel,
      conversation: conversation.id,
      thread: orNull(conversation.thread ?? opened?.thread),
    })),
    answer: answer
      ? {
          approved: status === "approved",
          feedback: orNull(answer.feedback),
          by: answer.by,
          via: answer.via,
          at: instant(answer.atMs),
          holds: status === "approved" ? (answer.holds ?? "once") : null,
        }
      : null,
    detail: approval.detail ?? null,
    // What a yes would be kept under is of no use outside.
    offers: {
      conversation: orNull(approval.offers?.conversation?.text),
      always: orNull(approval.offers?.always?.text),
      reason: orNull(approval.offers?.reason),
    },
  };
};
