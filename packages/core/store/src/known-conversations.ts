/** Where people have written, as far as it is remembered: there is a session, or their message waits or is being answered. */
import type { DatabaseSync } from "node:sqlite";
import type { ClientId } from "@svc/contract";

export class KnownConversations {
  readonly #any;

  constructor(db: DatabaseSync) {
    // What waits is little; of the sessions of years only those in between are looked at.
    this.#any = db.prepare(`
      SELECT EXISTS (SELECT 1 FROM sessions WHERE client_id = ?1 AND name >= ?2 AND name < ?3)
        OR EXISTS (SELECT 1 FROM inbox_open JOIN inbox USING (n)
          WHERE kind = 'message' AND lane >= ?2 AND lane < ?3) AS found`);
  }

  /** Whether one of these lanes is: `from` ≤ lane < `before`, by the order of their bytes. `owner`: of its sessions. */
  any(owner: ClientId, { from, before }: { readonly from: string; readonly before: string }): boolean {
    return (this.#any.get(owner, from, before) as { found: number }).found === 1;
  }
}
