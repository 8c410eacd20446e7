/** Messages whose turns have not ended. Each is on disk before anything of its turn is told or done; whatever ends the turn removes it. */
import type { DatabaseSync } from "node:sqlite";
import { type OpenTurnRow, openTurnOf } from "./session-rows.ts";
import type { OpenTurn, PartialAnswer } from "../types.ts";
import { rowsOf } from "../rows.ts";
import { randomUUIDv7 } from "node:crypto";

export class OpenTurnStore {
  /** Row numbers by turn: an index of the table would be one more page that each turn writes. Undefined: to be read. */
  #rows: Map<string, number> | undefined;
  readonly #insert;
  readonly #savePartial;
  readonly #delete;
  readonly #deletePartial;
  readonly #all;
  readonly #numbers;

  constructor(db: DatabaseSync) {
    this.#insert = db.prepare(
      "INSERT INTO open_turns (turn_id, owner, name, session_id, agent, at, text, meta) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    );
    this.#savePartial = db.prepare(
      `INSERT INTO open_answers (turn_id, step, text) VALUES (?, ?, ?)
       ON CONFLICT (turn_id) DO UPDATE SET step = excluded.step, text = excluded.text`,
    );
    this.#delete = db.prepare("DELETE FROM open_turns WHERE n = ?");
    this.#deletePartial = db.prepare("DELETE FROM open_answers WHERE turn_id = ?");
    this.#all = db.prepare(
      `SELECT o.*, a.step AS step, a.text AS partial FROM open_turns AS o LEFT JOIN open_answers AS a USING (turn_id)
       ORDER BY n`,
    );
    this.#numbers = db.prepare("SELECT turn_id, n FROM open_turns");
  }

  /** Inside a transaction. */
  add({ turnId, owner, name, sessionId, agent, at, text, meta }: Omit<OpenTurn, "partial">): void {
    const rows = this.#known();
    const row = [turnId, owner, name, sessionId, agent, at, text, meta ? JSON.stringify(meta) : null] as const;
    rows.set(turnId, Number(this.#insert.run(...row).lastInsertRowid));
  }

  /** Inside a transaction: takes the place of what was saved of the answer. Does nothing when the turn has ended. */
  savePartial(turnId: string, { step, text }: PartialAnswer): void {
    if (this.#known().has(turnId)) this.#savePartial.run(turnId, step, text);
  }

  /** Inside the transaction that ends the turn. */
  remove(turnId: string): void {
    const rows = this.#known();
    // Most turns end before their message was written by itself.
    const n = rows.size > 0 ? rows.get(turnId) : undefined;
    if (n === undefined) return;
    this.#delete.run(n);
    this.#deletePartial.run(turnId);
    rows.delete(turnId);
  }

  /** A transaction was undone. */
  onRollback(): void {
    this.#rows = undefined;
  }

  /** In the order in which they were sent. */
  all(): OpenTurn[] {
    return rowsOf<OpenTurnRow>(this.#all.all()).map(openTurnOf);
  }

  #known(): Map<string, number> {
    const read = (): { turn_id: string; n: number }[] => this.#numbers.all() as { turn_id: string; n: number }[];
    return (this.#rows ??= new Map(read().map(({ turn_id: turnId, n }) => [turnId, n])));
  }
}

/** In the order of time: what is kept by turn stands together on disk, where random ids would be strewn all over it. */
export const newTurnId = (): string => `t-${randomUUIDv7()}`;
