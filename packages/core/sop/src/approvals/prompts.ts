/** Questions as channels with buttons post them. */
import type { Prompt, PromptReceipt } from "@svc/contract";
import type { ApprovalOptions } from "./options.ts";
import { outcomeText } from "./outcome.ts";
import { oneLine } from "./plain-text.ts";

/** What deliveries with an `approval` ask. Structurally the agent's `PromptSource`. */
export interface Prompts {
  /** Undefined: there is none of this number. */
  promptOf(n: number): PromptState | undefined;
  /** Inside the transaction that notes that the platform has it. */
  posted(n: number, delivery: number, receipt: PromptReceipt): void;
}

export interface PromptState {
  readonly prompt: Prompt;
  readonly isWaiting: boolean;
  /** How it ended, for a person, once it did. */
  readonly outcome?: string;
}

/** Of no channel in particular. */
const MAX_OUTCOME_CHARS = 1_000;

export function createPrompts({ store, redact }: Pick<ApprovalOptions, "store" | "redact">): Prompts {
  return {
    promptOf(n) {
      const approval = store.approvals.read(n);
      if (!approval) return undefined;
      const { title, message, status } = approval;
      const words = { title: redact(oneLine(title)), message: redact(message) };
      return {
        prompt: { id: `ap-${n}`, ...words, approve: "Approve", reject: "Reject" },
        isWaiting: status === "waiting",
        ...(status !== "waiting" && { outcome: outcomeText(approval, MAX_OUTCOME_CHARS, redact) }),
      };
    },
    posted(_, delivery, { thread }) {
      if (thread) store.approvals.addThread(delivery, thread);
    },
  };
}
