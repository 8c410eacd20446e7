/** An answer that people see while it is written, as far as its channel can show that (`Channel.drafts`). */
import type { Clock, Logger } from "@svc/contract";
import type { InboxMessage, NewDelivery, Store } from "@svc/store";
import type { TurnWatcher } from "@svc/agent";
import type { OutboxDispatcher } from "../outbox.ts";
import type { AnswerTarget } from "../outgoing-rows.ts";

export interface Streaming extends TurnWatcher {
  /** The platform's id of the draft that an answer, or an apology, replaces. */
  readonly draft: string | undefined;
  /** The answer is whole, and no longer shown while it is written. What is still to be sent of it. */
  rows(response: string): Promise<readonly NewDelivery[]>;
  /** There is no answer. Resolves when what is under way has ended, or was aborted. Never rejects. */
  end(): Promise<void>;
}

export interface StreamingDeps {
  readonly store: Pick<Store, "inbox" | "outbox" | "write">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly dispatcher: Pick<OutboxDispatcher, "wake" | "isIdle">;
  readonly drafts: DraftIds;
}

/** Read each time, since a reload may change it while the answer is written. */
export type TargetSource = () => AnswerTarget;

/** The platforms' ids of drafts. A restart must find them, or the answer would be there twice. */
export class DraftIds {
  readonly #store: Pick<Store, "inbox" | "write">;
  /** By message: ids that the disk has not taken yet. A later attempt in this process uses them all the same. */
  readonly #unstored = new Map<number, string>();

  constructor(store: Pick<Store, "inbox" | "write">) {
    this.#store = store;
  }

  of({ n, draft }: Pick<InboxMessage, "n" | "draft">): string | undefined {
    return this.#unstored.get(n) ?? draft;
  }

  /** Whether the disk took it. */
  async keep(n: number, platformId: string): Promise<boolean> {
    this.#unstored.set(n, platformId);
    try {
      await this.#store.write(() => this.#store.inbox.drafted(n, platformId));
    } catch {
      return false;
    }
    this.#unstored.delete(n);
    return true;
  }

  /** The message has ended. */
  forget(n: number): void {
    this.#unstored.delete(n);
  }
}
