/** Messages whose turns have not ended. Each is on disk before anything of its turn is told or done; whatever ends the turn removes it. */
import type { DatabaseSync } from "node:sqlite";
import { openTurnOf, type OpenTurnRow } from "./session-rows.ts";
import type { OpenTurn, PartialAnswer } from "./types.ts";

export class OpenTurnStore {
  readonly #insert;
  readonly #savePartial;
  readonly #delete;
  readonly #deletePartial;
  readonly #all;

  constructor(db: DatabaseSync) {
    this.#insert = db.prepare(
      "INSERT INTO open_turns (turn_id, owner, name, session_id, agent, at, text, meta) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    );
    this.#savePartial = db.prepare(
      `INSERT INTO open_answers (turn_id, step, text) SELECT ?1, ?2, ?3
         WHERE EXISTS (SELECT 1 FROM open_turns WHERE turn_id = ?1)
       ON CONFLICT (turn_id) DO UPDATE SET step = excluded.step, text = excluded.text`,
    );
    this.#delete = db.prepare("DELETE FROM open_turns WHERE turn_id = ?");
    this.#deletePartial = db.prepare("DELETE FROM open_answers WHERE turn_id = ?");
    this.#all = db.prepare(
      `SELECT o.*, a.step AS step, a.text AS partial FROM open_turns AS o LEFT JOIN open_answers AS a USING (turn_id)
       ORDER BY n`,
    );
  }

  /** Inside a transaction. */
  add({ turnId, owner, name, sessionId, agent, at, text, meta }: Omit<OpenTurn, "partial">): void {
    this.#insert.run(turnId, owner, name, sessionId, agent, at, text, meta ? JSON.stringify(meta) : null);
  }

  /** Inside a transaction: takes the place of what was saved of the answer. Does nothing when the turn has ended. */
  savePartial(turnId: string, { step, text }: PartialAnswer): void {
    this.#savePartial.run(turnId, step, text);
  }

  /** Inside the transaction that ends the turn. */
  remove(turnId: string): void {
    if (Number(this.#delete.run(turnId).changes) > 0) this.#deletePartial.run(turnId);
  }

  /** In the order in which they were sent. */
  all(): OpenTurn[] {
    return (this.#all.all() as unknown as OpenTurnRow[]).map(openTurnOf);
  }
}
