/** How an approval ended, in words. */
import { type ApprovalEvent, SvcError } from "@svc/contract";
import type { Approval, ApprovalStatus } from "@svc/store";
import { cut, quoted } from "./plain-text.ts";
import { inWords, utc } from "./prompt-text.ts";

type Ended = Exclude<ApprovalStatus, "waiting">;

/** e.g. `#12 ("Deploy?"): approved by alice.`, and the feedback. */
export function outcomeText(approval: Approval, maxChars: number): string {
  const { n, title, answer } = approval;
  const line = `#${n} (${inWords([cut(title, MAX_TITLE)])}): ${outcomeOf(approval)}.`;
  const feedback = answer!.feedback;
  return cut(feedback === undefined ? line : `${line}\n${quoted(cut(feedback, MAX_FEEDBACK))}`, maxChars);
}

/** Why a later answer does not count. */
export function refusalOf(approval: Approval): SvcError {
  const { status, answer } = approval;
  if (status === "expired") return expired(answer!.atMs);
  return new SvcError("APPROVAL_RESOLVED", `It is over already: ${outcomeOf(approval)}, at ${utc(answer!.atMs)}.`);
}

export const expired = (atMs: number): SvcError =>
  new SvcError("APPROVAL_EXPIRED", `No answer in time: it expired at ${utc(atMs)}.`);

export function resolvedEvent({ runId, stepId, status, answer }: Approval): ApprovalEvent {
  return {
    type: "human_approval_resolved",
    runId,
    stepId,
    approved: status === "approved",
    outcome: status as Ended,
    feedback: answer!.feedback,
    by: answer!.by,
  };
}

export function requestEvent(approval: Approval): ApprovalEvent {
  const { runId, stepId, origin, title, message, channels, approveKeywords, rejectKeywords, expiresAtMs } = approval;
  const words = { approveKeywords, rejectKeywords };
  return { type: "human_approval_request", runId, stepId, origin, title, message, channels, ...words, expiresAtMs };
}

const MAX_TITLE = 80;
const MAX_FEEDBACK = 500;

function outcomeOf({ status, answer }: Approval): string {
  const { by, via } = answer!;
  const who = `${by}${PLACES[via]}`;
  const outcomes: Record<Ended, string> = {
    approved: `approved by ${who}`,
    rejected: `rejected by ${who}`,
    expired: "not approved: no answer in time",
    cancelled: `called off: ${by}`,
  };
  return outcomes[status as Ended];
}

/** Where it is not plain from who it was. */
const PLACES = { chat: "", api: " by the API", page: " on the page", cli: "", agent: "", service: "" } as const;
