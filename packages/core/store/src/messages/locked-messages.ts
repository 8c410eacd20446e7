/** Messages that can't be read yet. There are few: their channel bounds them. */
import type { DatabaseSync } from "node:sqlite";
import type { KeptMessage, NewMessage } from "../message-types.ts";

export class LockedMessages {
  readonly #find;
  readonly #before;
  readonly #count;
  readonly #unlock;

  constructor(db: DatabaseSync) {
    const locked = "FROM inbox_open JOIN inbox USING (n) WHERE kind = 'locked'";
    this.#find = db.prepare(`SELECT n, turn_id AS turnId ${locked} AND channel = ? AND json_extract(body, '$.id') = ?`);
    this.#before = db.prepare(`SELECT n ${locked} AND received_at < ?`);
    this.#count = db.prepare(`SELECT count(*) AS n ${locked}`);
    this.#unlock = db.prepare("UPDATE inbox SET kind = ?, lane = ?, body = ? WHERE n = ?");
  }

  find(channel: string, key: string): KeptMessage | undefined {
    const row = this.#find.get(channel, key) as { n: number; turnId: string } | undefined;
    return row && { ...row };
  }

  /** Inside a transaction: the message is this one from now on. Undefined: none is locked under its key. */
  unlock(channel: string, { kind, lane, body, dedupe }: NewMessage): KeptMessage | undefined {
    const found = dedupe && this.find(channel, dedupe.key);
    if (found) this.#unlock.run(kind, lane, JSON.stringify(body), found.n);
    return found;
  }

  count(): number {
    return (this.#count.get() as { n: number }).n;
  }

  /** Numbers of those that came before. */
  before(atMs: number): number[] {
    return (this.#before.all(atMs) as { n: number }[]).map(({ n }) => n);
  }
}
