/** Questions as channels post them, and take them back. */
import type { Messaging, PromptSource } from "@svc/messaging";
import { outcomeText, promptIdOf, promptParts } from "@svc/sop";
import type { Approval, Store } from "@svc/store";

const MAX_OUTCOME_CHARS = 300;
const LABELS = { approve: "Approve", reject: "Reject" } as const;

export const promptSource = (store: Pick<Store, "approvals">): PromptSource => ({
  promptOf(n) {
    const approval = store.approvals.read(n);
    if (!approval) return undefined;
    const isWaiting = approval.status === "waiting";
    return {
      prompt: { id: promptIdOf(approval), ...promptParts(approval), ...LABELS },
      isWaiting,
      ...(!isWaiting && { outcome: outcomeText(approval, MAX_OUTCOME_CHARS) }),
    };
  },
  posted(_approval, delivery, { opened }) {
    if (opened) store.approvals.setOpened(delivery, opened);
  },
});

/** Takes the buttons off wherever the question was posted. */
export function closePrompts(approval: Approval, store: Pick<Store, "outbox">, messaging: Messaging): void {
  const outcome = outcomeText(approval, MAX_OUTCOME_CHARS);
  for (const { delivery } of approval.prompts) {
    const posted = store.outbox.read(delivery);
    // One that is not sent yet is never posted any more.
    if (posted?.state !== "sent") continue;
    const { conversation, platformId, text } = posted;
    messaging.closePrompt({ conversation, platformId, text }, outcome);
  }
}
