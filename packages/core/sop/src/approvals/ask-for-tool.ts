/** Tool calls that a person has to allow: the agent's question becomes an approval, and its answer the agent's. */
import { type Conversation, type FileChange, type Json, SvcError } from "@svc/contract";
import type { Approval, ApprovalOffers, OfferedPattern, Store } from "@svc/store";
import type { ApprovalRegistry } from "./approvals.ts";
import { digestOf } from "./new-approval.ts";
import { shortened } from "./plain-text.ts";
import { detailOf } from "./tool-call-detail.ts";
import type { ApprovalKey, ApprovalRequest } from "./types.ts";

/** Structurally the agent's `AskPerson`. */
export type AskForTool = (question: ToolQuestion, signal: AbortSignal) => Promise<ToolAnswer>;

export interface ToolQuestion {
  readonly turnId: string;
  readonly callId: string;
  readonly tool: string;
  readonly input: Json;
  readonly reason: string;
  readonly agent: string;
  readonly command?: string;
  readonly folder?: string;
  readonly change?: FileChange;
  readonly lasting: LastingOffers;
}

/** Structurally the agent's. */
interface LastingOffers extends Pick<ApprovalOffers, "conversation" | "reason"> {
  readonly always?: OfferedPattern & { readonly rule: object };
}

export interface ToolAnswer {
  readonly approved: boolean;
  readonly isRejected?: boolean;
  readonly feedback?: string;
}

export interface AskForToolParts {
  readonly approvals: Pick<ApprovalRegistry, "request" | "settled" | "get" | "cancelIn" | "expire">;
  readonly store: Pick<Store, "write">;
  /** Takes the configured secrets out of the input that people are shown. */
  readonly redact: (text: string) => string;
  /** `approvals.tool_timeout_secs`, as it is in force now. */
  readonly timeoutMs: () => number;
  /** Whether a turn that was called off for this reason goes on in the next process: its question goes on waiting. */
  readonly isPostponed: (reason: unknown) => boolean;
  /** Whose turn it is, and where it is asked; the page and the command line ask always. */
  readonly placeOf: (question: ToolQuestion) => {
    readonly askedBy: string;
    readonly asker?: string;
    readonly conversations: readonly Conversation[];
  };
  /** Called once it waits: from here on it can be answered. */
  readonly onWaiting?: () => void;
}

const MAX_INPUT_CHARS = 4_000;

/** What was asked before, by this process or the last, is not asked again. */
export function askForTool(parts: AskForToolParts): AskForTool {
  return async (question, signal) => {
    const { approvals } = parts;
    const request = requestOf(parts, question);
    const before = approvals.get(request);
    if (before && before.digest !== digestOf(request)) return ANOTHER;
    if (before && before.status !== "waiting") return answerOf(before);
    signal.throwIfAborted();
    await approvals.request(request);
    parts.onWaiting?.();
    try {
      return answerOf(await approvals.settled(request, signal));
    } catch (error) {
      if (signal.aborted) await callOff(parts, request, signal.reason);
      throw error;
    }
  };
}

/** A yes to one call is none to another, whatever the model calls it. */
const ANOTHER: ToolAnswer = {
  approved: false,
  isRejected: false,
  feedback: "another call of this turn was asked for under the same id, or a file that it names was changed since",
};

function requestOf({ redact, timeoutMs, placeOf }: AskForToolParts, question: ToolQuestion): ApprovalRequest {
  const { turnId, callId, tool, input, reason } = question;
  return {
    runId: turnId,
    stepId: callId,
    origin: "tool",
    title: `May the agent run ${tool}?`,
    message: `${reason}\n\n${shortened(redact(JSON.stringify(input, null, 2)), MAX_INPUT_CHARS)}`,
    subject: { tool, input },
    detail: detailOf(question, redact),
    offers: offersOf(question.lasting, redact),
    expireMs: timeoutMs(),
    ...placeOf(question),
  };
}

const answerOf = ({ status, answer }: Approval): ToolAnswer => {
  const feedback = status === "approved" || status === "rejected" ? answer?.feedback : answer?.by;
  return {
    approved: status === "approved",
    ...(status !== "approved" && status !== "rejected" && { isRejected: false }),
    ...(feedback !== undefined && { feedback }),
  };
};

/** A rule with a secret in it would be shown to many and stand in the config. */
function offersOf({ conversation, always, reason }: LastingOffers, redact: (text: string) => string): ApprovalOffers {
  const isOpen = ({ text }: OfferedPattern): boolean => redact(text) === text;
  if ([conversation, always].some((pattern) => pattern && !isOpen(pattern))) {
    return { reason: "The call has a secret of the config in it." };
  }
  return {
    ...(conversation && { conversation }),
    ...(always && { always: { ...always, rule: always.rule as Json } }),
    ...(reason !== undefined && { reason }),
  };
}

async function callOff(
  { approvals, store, isPostponed }: AskForToolParts,
  key: ApprovalKey,
  reason: unknown,
): Promise<void> {
  if (isPostponed(reason)) return;
  if (reason instanceof SvcError && reason.code === "TOOL_REFUSED") return approvals.expire(key);
  const pending = await store.write(() => approvals.cancelIn(key, "the turn that asked for it is over"));
  pending?.committed();
}
