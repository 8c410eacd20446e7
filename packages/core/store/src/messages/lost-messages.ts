/** Messages that a start gave up, because the process had died of them again and again; their senders are to be told. */
import type { DatabaseSync } from "node:sqlite";
import type { InboxMessage } from "../message-types.ts";

export class LostMessages {
  readonly #all;
  readonly #told;

  constructor(db: DatabaseSync) {
    this.#all = db.prepare("SELECT n, draft, traceparent FROM inbox_lost ORDER BY n");
    this.#told = db.prepare("DELETE FROM inbox_lost WHERE n = ?");
  }

  all(read: (n: number) => InboxMessage | undefined): InboxMessage[] {
    const rows = this.#all.all() as { n: number; draft: string | null; traceparent: string | null }[];
    return rows.flatMap(({ n, draft, traceparent: waitTraceparent }) => {
      const message = read(n);
      if (!message) return [];
      return [{ ...message, ...(draft !== null && { draft }), ...(waitTraceparent !== null && { waitTraceparent }) }];
    });
  }

  /** Inside a transaction: its sender is told, or need not be any more. */
  told(n: number): void {
    this.#told.run(n);
  }
}
