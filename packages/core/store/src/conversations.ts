/** What people chose in their conversations. It outlives the session in them: one that begins anew has the same model. */
import type { DatabaseSync } from "node:sqlite";
import type { ClientId } from "@svc/contract";

export class ConversationStore {
  readonly #model;
  readonly #choose;
  readonly #forget;
  readonly #dropOld;

  constructor(db: DatabaseSync) {
    this.#model = db.prepare("SELECT model FROM conversations WHERE owner = ? AND name = ?");
    this.#choose = db.prepare(
      `INSERT INTO conversations VALUES (?, ?, ?, ?)
       ON CONFLICT (owner, name) DO UPDATE SET model = excluded.model, chosen_at = excluded.chosen_at`,
    );
    this.#forget = db.prepare("DELETE FROM conversations WHERE owner = ? AND name = ?");
    this.#dropOld = db.prepare(
      `DELETE FROM conversations WHERE (owner, name) IN
         (SELECT owner, c.name FROM conversations AS c WHERE chosen_at < ?
            AND NOT EXISTS (SELECT 1 FROM sessions AS s WHERE s.client_id = c.owner AND s.name = c.name) LIMIT ?)`,
    );
  }

  /** Name of the model that was chosen there; undefined: none was. */
  modelOf(owner: ClientId, name: string): string | undefined {
    return (this.#model.get(owner, name) as { model: string } | undefined)?.model;
  }

  /** Inside a transaction. Undefined: whatever the config says. */
  choose(owner: ClientId, name: string, model: string | undefined, nowMs: number): void {
    if (model === undefined) this.forget(owner, name);
    else this.#choose.run(owner, name, model, nowMs);
  }

  /** Inside a transaction. */
  forget(owner: ClientId, name: string): void {
    this.#forget.run(owner, name);
  }

  /** Inside a transaction: forgets some choices from before `beforeMs` where no conversation is kept; tells how many. */
  dropOld(beforeMs: number, limit: number): number {
    return Number(this.#dropOld.run(beforeMs, limit).changes);
  }
}
