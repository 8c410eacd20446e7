/** Approvals as small as they can be, on the real disk: one question a call, "yes" or "no" of anybody in its conversation. */
import type { Clock, Inbound, Receipt } from "@svc/contract";
import { keyOfConversation } from "@svc/kit";
import type { Approval, Delivery, Store } from "@svc/store";
import { type AskPlace, type PromptSource, type ReplyTaker } from "../src/index.ts";
import { type AskPerson, isPostponed } from "@svc/agent";

export interface Desk {
  readonly replies: ReplyTaker;
  readonly askIn: (where: AskPlace) => AskPerson;
  readonly prompts: PromptSource;
  /** As a page would. False: it waits no longer. */
  settle(n: number, status: "approved" | "rejected"): Promise<boolean>;
  /** Of replies whose transaction is on disk. */
  readonly committed: number[];
  /** Threads and ids that platforms told of. */
  readonly posted: [delivery: number, receipt: Receipt][];
}

const TIMEOUT_MS = 300_000;
const WORDS = { yes: "approved", no: "rejected" } as const;

export function desk(store: Store, clock: Clock, wake: (rows: readonly Delivery[]) => void): Desk {
  const waiters = new Map<number, () => void>();
  const committed: number[] = [];
  const posted: Desk["posted"] = [];
  const settleIn = (n: number, status: "approved" | "rejected" | "cancelled"): boolean => {
    const answer = { by: "somebody", via: "chat", feedback: undefined, atMs: clock.now() } as const;
    return store.approvals.settle(n, status, answer);
  };
  const meant = (
    { conversation, text }: Inbound,
    receivedAtMs: number,
  ): [Approval, "approved" | "rejected"] | undefined => {
    const approval = store.approvals.waitingIn(conversation).find((one) => one.createdAtMs <= receivedAtMs);
    const status = Object.hasOwn(WORDS, text) ? WORDS[text as keyof typeof WORDS] : undefined;
    return approval && status && [approval, status];
  };
  const askAt = async ({ conversation }: AskPlace, turnId: string, callId: string): Promise<number> => {
    let rows: Delivery[] = [];
    const n = await store.write(() => {
      rows = [];
      const before = store.approvals.byKey(turnId, callId);
      if (before) return before.n;
      const nowMs = clock.now();
      const times = { createdAtMs: nowMs, expiresAtMs: nowMs + TIMEOUT_MS };
      const words = { title: "May it?", message: "?", approveKeywords: [], rejectKeywords: [], askedBy: "" };
      const key = { runId: turnId, stepId: callId, origin: "tool", channels: [], digest: "00" } as const;
      const made = store.approvals.add({ ...key, ...words, ...times });
      if (!conversation) return made;
      const row = {
        conversation,
        conversationKey: keyOfConversation(conversation),
        text: `May it? #${made}`,
        files: [],
        approval: made,
      };
      rows = store.outbox.add([row], nowMs);
      store.approvals.addPrompt(made, conversation, rows[0]!.n);
      return made;
    });
    wake(rows);
    return n;
  };
  return {
    committed,
    posted,
    replies: {
      takes: (inbound, receivedAtMs) => meant(inbound, receivedAtMs) !== undefined,
      take(inbound, receivedAtMs) {
        const [approval, status] = meant(inbound, receivedAtMs) ?? [];
        if (!approval || !status || !settleIn(approval.n, status)) return undefined;
        const { n } = approval;
        return { text: `${status} #${n}`, committed: () => (committed.push(n), waiters.get(n)?.()) };
      },
    },
    askIn: (where) => async (question, signal) => {
      const n = await askAt(where, question.turnId, question.callId);
      if (store.approvals.read(n)!.status === "waiting") {
        await new Promise<void>((resolve, reject) => {
          waiters.set(n, resolve);
          signal.addEventListener("abort", () => {
            if (!isPostponed(signal.reason)) void store.write(() => settleIn(n, "cancelled"));
            reject(signal.reason as Error);
          });
        });
      }
      return { approved: store.approvals.read(n)!.status === "approved" };
    },
    prompts: {
      promptOf(n) {
        const approval = store.approvals.read(n);
        if (!approval) return undefined;
        const prompt = { id: `ap-${n}`, title: approval.title, message: "?", approve: "Yes", reject: "No" };
        return { prompt, isWaiting: approval.status === "waiting", outcome: approval.status };
      },
      posted: (_, delivery, receipt) => void posted.push([delivery, receipt]),
    },
    async settle(n, status) {
      const isFirst = await store.write(() => settleIn(n, status));
      if (isFirst) waiters.get(n)?.();
      return isFirst;
    },
  };
}
