/** Tool calls that a person has to allow: the agent's question becomes an approval, and its answer the agent's. */
import { type Conversation, type Json, SvcError } from "@svc/contract";
import type { Approval, Store } from "@svc/store";
import type { ApprovalRegistry } from "./approvals.ts";
import { digestOf } from "./new-approval.ts";
import { shortened } from "./plain-text.ts";
import type { ApprovalKey, ApprovalRequest } from "./types.ts";

/** Structurally the agent's `AskPerson`. */
export type AskForTool = (question: ToolQuestion, signal: AbortSignal) => Promise<ToolAnswer>;

export interface ToolQuestion {
  readonly turnId: string;
  readonly callId: string;
  readonly tool: string;
  readonly input: Json;
  readonly reason: string;
}

export interface ToolAnswer {
  readonly approved: boolean;
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
    expireMs: timeoutMs(),
    ...placeOf(question),
  };
}

const answerOf = ({ status, answer }: Approval): ToolAnswer => {
  const feedback = status === "approved" || status === "rejected" ? answer?.feedback : answer?.by;
  return { approved: status === "approved", ...(feedback !== undefined && { feedback }) };
};

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
