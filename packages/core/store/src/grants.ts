/** Yeses that hold for the rest of a conversation. Whatever ends it ends them, in the same transaction. */
import type { DatabaseSync } from "node:sqlite";
import type { ClientId } from "@svc/contract";
import type { GrantPlace, OfferedPattern } from "./approval-types.ts";

export interface Grant extends GrantPlace, OfferedPattern {
  /** Number of the approval that gave it. */
  readonly approval: number;
  readonly atMs: number;
}

export class GrantStore {
  readonly #add;
  readonly #has;
  readonly #list;
  readonly #end;
  readonly #dropOld;

  constructor(db: DatabaseSync) {
    this.#add = db.prepare("INSERT OR REPLACE INTO grants VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
    this.#has = db.prepare(
      "SELECT 1 FROM grants WHERE owner = ? AND name = ? AND sender = ? AND agent = ? AND key = ?",
    );
    this.#list = db.prepare(
      `SELECT owner, name, sender, agent, key, approval, text, at AS atMs FROM grants
       WHERE owner = ? AND name = ? ORDER BY at, key`,
    );
    this.#end = db.prepare("DELETE FROM grants WHERE owner = ? AND name = ?");
    this.#dropOld = db.prepare(
      `DELETE FROM grants WHERE (owner, name, sender, agent, key) IN
         (SELECT owner, g.name, sender, agent, key FROM grants AS g WHERE at < ?
            AND NOT EXISTS (SELECT 1 FROM sessions AS s WHERE s.client_id = g.owner AND s.name = g.name) LIMIT ?)`,
    );
  }

  /** Inside a transaction. */
  add({ owner, name, sender, agent, key, approval, text, atMs }: Grant): void {
    this.#add.run(owner, name, sender, agent, key, approval, text, atMs);
  }

  has({ owner, name, sender, agent }: GrantPlace, key: string): boolean {
    return this.#has.get(owner, name, sender, agent, key) !== undefined;
  }

  /** The oldest first. */
  list(owner: ClientId, name: string): Grant[] {
    return this.#list.all(owner, name) as unknown as Grant[];
  }

  /** Inside a transaction: the conversation is over, or begins anew. */
  end(owner: ClientId, name: string): void {
    this.#end.run(owner, name);
  }

  /** Inside a transaction: some of before `beforeMs` where no conversation is kept; tells how many. */
  dropOld(beforeMs: number, limit: number): number {
    return Number(this.#dropOld.run(beforeMs, limit).changes);
  }
}
