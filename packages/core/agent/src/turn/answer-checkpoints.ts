/** Saves the text of an answer while it comes. A kill loses at most what came since the last time, and no more than `SAVE_MS` of it. */
import type { Clock } from "@svc/contract";
import type { PartialAnswer, Store } from "@svc/store";

const SAVE_MS = 200;

export interface AnswerCheckpointsOptions {
  readonly store: Pick<Store, "openTurns" | "write">;
  readonly clock: Pick<Clock, "after">;
  readonly turnId: string;
  /** What has come so far; undefined: nothing that is not saved elsewhere. */
  readonly partial: () => PartialAnswer | undefined;
}

export class AnswerCheckpoints {
  readonly #options: AnswerCheckpointsOptions;
  #cancel: (() => void) | undefined;
  #isSaving = false;
  #isOver = false;

  constructor(options: AnswerCheckpointsOptions) {
    this.#options = options;
  }

  /** More has come. One save at a time is planned, or under way. */
  changed(): void {
    if (this.#isOver || this.#cancel || this.#isSaving) return;
    this.#cancel = this.#options.clock.after(SAVE_MS, () => void this.#save());
  }

  /** The turn is over: whatever ends it writes its text. */
  end(): void {
    this.#isOver = true;
    this.#cancel?.();
  }

  async #save(): Promise<void> {
    const { store, turnId, partial } = this.#options;
    this.#cancel = undefined;
    const saved = partial();
    if (this.#isOver || saved === undefined) return;
    this.#isSaving = true;
    // A full disk must not end an answer that is on its way; its end will meet the same disk.
    await store.write(() => store.openTurns.savePartial(turnId, saved)).catch(() => undefined);
    this.#isSaving = false;
    if (partial() !== saved) this.changed();
  }
}
