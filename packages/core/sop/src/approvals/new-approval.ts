/** A request as it is kept: checked, bounded, without secrets, and with what tells it from another one of the same key. */
import { createHash } from "node:crypto";
import { type Conversation, type Json, SvcError } from "@svc/contract";
import { laneOf } from "@svc/kit";
import type { NewApproval } from "@svc/store";
import { checkedKeywords, type Keywords } from "./keywords.ts";
import type { ApprovalOptions } from "./options.ts";
import { cut, oneLine, wellFormed } from "./plain-text.ts";
import type { ApprovalRequest } from "./types.ts";

const MAX = { title: 300, message: 16_384, askedBy: 200, conversations: 64 } as const;

/** Throws BAD_REQUEST. */
export function newApproval(
  request: ApprovalRequest,
  { clock, expireMs, redact }: Pick<ApprovalOptions, "clock" | "expireMs" | "redact">,
): NewApproval {
  const { runId, stepId, origin, channels = [] } = request;
  checkId(runId, "run_id");
  checkId(stepId, "step_id");
  if (request.conversations.length > MAX.conversations) {
    throw new SvcError("BAD_REQUEST", `An approval is asked for in at most ${MAX.conversations} conversations.`);
  }
  const keywords = checkedKeywords(request.approveKeywords, request.rejectKeywords);
  const nowMs = clock.now();
  return {
    runId,
    stepId,
    origin,
    title: cut(oneLine(redact(request.title)), MAX.title),
    message: cut(wellFormed(redact(request.message)), MAX.message),
    ...keywords,
    channels,
    askedBy: cut(oneLine(redact(request.askedBy)), MAX.askedBy),
    digest: digestOf(request, keywords),
    createdAtMs: nowMs,
    expiresAtMs: nowMs + (request.expireMs ?? expireMs()),
    ...(request.detail && { detail: request.detail as unknown as Json }),
    ...(request.offers && { offers: request.offers }),
  };
}

/** Each once, in their order. */
export const distinct = (conversations: readonly Conversation[]): Conversation[] => [
  ...new Map(conversations.map((conversation) => [laneOf(conversation), conversation])).values(),
];

/** It is part of a path of the API and of command lines. */
function checkId(id: string, field: string): void {
  if (!/^(?!\.{1,2}$)[^\p{C}\p{Z}]{1,256}$/u.test(id)) {
    throw new SvcError("BAD_REQUEST", `${field} must be 1 to 256 visible characters.`);
  }
}

/**
 * Where there is a subject, it alone is what is asked: another version of svc, or another rule of the policy, words the same
 * question in another way.
 */
export function digestOf({ origin, title, message, channels, subject }: ApprovalRequest, keywords?: Keywords): string {
  const asked = subject === undefined ? { title, message, channels: channels ?? [], ...keywords } : { subject };
  return createHash("sha256")
    .update(JSON.stringify([origin, asked]))
    .digest("hex");
}
