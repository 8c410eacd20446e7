/** The end of an approval: in one transaction with what those who were asked are told. */
import type { Conversation } from "@svc/contract";
import { laneOf } from "@svc/kit";
import type { Approval, ApprovalAnswer, ApprovalStatus, Delivery, NewDelivery } from "@svc/store";
import type { Announced } from "./announced.ts";
import type { ApprovalOptions } from "./options.ts";
import { outcomeText, resolvedEvent } from "./outcome.ts";
import { cut, oneLine, wellFormed } from "./plain-text.ts";
import type { Pending } from "./types.ts";
import type { Waiters } from "./waiters.ts";

export interface End extends Pick<ApprovalAnswer, "by" | "via" | "holds"> {
  readonly status: Exclude<ApprovalStatus, "waiting">;
  readonly feedback?: string | undefined;
  /** Where it was answered: whoever is there has the answer to his answer. */
  readonly at?: Conversation;
}

const MAX = { by: 200, feedback: 4_096 } as const;

export class Settler {
  readonly #options: ApprovalOptions;
  readonly #announced: Announced;
  readonly #waiters: Waiters;

  constructor(options: ApprovalOptions, announced: Announced, waiters: Waiters) {
    this.#options = options;
    this.#announced = announced;
    this.#waiters = waiters;
  }

  /** Inside a transaction. Undefined: it waits no longer. */
  settleIn(n: number, { status, by, via, feedback, at, holds }: End): Pending<Approval> | undefined {
    const { store, clock, redact, onSettled, publish, wake } = this.#options;
    const said = feedback === undefined ? "" : cut(wellFormed(redact(feedback)).trim(), MAX.feedback);
    const answer = { by: cut(oneLine(redact(by)), MAX.by), via, feedback: said || undefined, atMs: clock.now() };
    const held = { ...answer, holds: status === "approved" ? holds : undefined };
    if (!store.approvals.settle(n, status, held)) return undefined;
    const result = store.approvals.read(n)!;
    const granted = held.holds === "conversation" ? result.offers?.conversation : undefined;
    if (granted) {
      const { place, key, text } = granted;
      store.grants.add({ ...place, key, text, approval: n, atMs: answer.atMs });
    }
    const deliveries = this.#tellIn(result, at);
    const goOn = onSettled?.(result);
    return {
      result,
      committed: () => {
        this.#announced.tell(result);
        publish(resolvedEvent(result));
        this.#waiters.wake(result);
        goOn?.();
        wake(deliveries);
      },
    };
  }

  #tellIn(approval: Approval, at: Conversation | undefined): Delivery[] {
    const { store, clock } = this.#options;
    const isThere = (place: Conversation | undefined): boolean =>
      at !== undefined && place !== undefined && laneOf(place) === laneOf(at);
    const places = approval.prompts
      .filter(({ conversation, opened }) => !isThere(conversation) && !isThere(opened))
      .map(({ conversation, opened }) => opened ?? conversation);
    return store.outbox.add(
      places.map((place) => this.#outcome(approval, place)),
      clock.now(),
    );
  }

  #outcome(approval: Approval, conversation: Conversation): NewDelivery {
    const { settings } = this.#options;
    const lane = laneOf(conversation);
    const text = outcomeText(approval, settings(conversation.channel).maxChars);
    return { conversation, lane, text, files: [], key: `approval-end:${approval.n}:${lane}` };
  }
}
