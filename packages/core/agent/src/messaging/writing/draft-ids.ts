/** What platforms call the beginnings of answers that they have. A restart must find it, or the answer would be there twice. */
import type { InboxMessage, Store } from "@svc/store";

export class DraftIds {
  readonly #store: Pick<Store, "inbox" | "write">;
  /** By message: what the disk has not taken yet. A later attempt in this process goes on with it all the same. */
  readonly #unkept = new Map<number, string>();

  constructor(store: Pick<Store, "inbox" | "write">) {
    this.#store = store;
  }

  of({ n, draft }: Pick<InboxMessage, "n" | "draft">): string | undefined {
    return this.#unkept.get(n) ?? draft;
  }

  /** Tells whether the disk took it. */
  async keep(n: number, platformId: string): Promise<boolean> {
    this.#unkept.set(n, platformId);
    try {
      await this.#store.write(() => this.#store.inbox.drafted(n, platformId));
    } catch {
      return false;
    }
    this.#unkept.delete(n);
    return true;
  }

  /** The message is over. */
  forget(n: number): void {
    this.#unkept.delete(n);
  }
}
