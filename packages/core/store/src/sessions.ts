/** Conversations and the turns in them. A turn is one row: the messages it added, in the model's own form. */
import type { DatabaseSync } from "node:sqlite";
import type { ClientId, Json } from "@svc/contract";
import type { SessionPlace, SessionSummary, StoredTurn } from "./types.ts";

export class SessionStore {
  readonly #find;
  readonly #insertSession;
  readonly #moveSession;
  readonly #insertTurn;
  readonly #turn;
  readonly #byActivity;
  readonly #byActivityOf;
  readonly #deleteTurns;
  readonly #delete;

  constructor(db: DatabaseSync) {
    this.#find = db.prepare(
      "SELECT n AS session, last_turn AS lastTurn FROM sessions WHERE client_id = ? AND name = ?",
    );
    this.#insertSession = db.prepare("INSERT INTO sessions VALUES (NULL, ?, ?, ?, ?, ?, 1, 0)");
    this.#moveSession = db.prepare("UPDATE sessions SET updated_at = ?, turns = turns + ?, last_turn = ? WHERE n = ?");
    this.#insertTurn = db.prepare("INSERT INTO turns VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    this.#turn = db.prepare("SELECT * FROM turns WHERE n = ?");
    this.#byActivity = db.prepare("SELECT * FROM sessions ORDER BY last_turn DESC LIMIT ?");
    this.#byActivityOf = db.prepare("SELECT * FROM sessions WHERE client_id = ? ORDER BY last_turn DESC LIMIT ?");
    this.#deleteTurns = db.prepare(`
      WITH RECURSIVE chain (n) AS (
        SELECT last_turn FROM sessions WHERE id = ?
        UNION ALL SELECT previous FROM turns JOIN chain USING (n) WHERE previous IS NOT NULL)
      DELETE FROM turns WHERE n IN chain`);
    this.#delete = db.prepare("DELETE FROM sessions WHERE id = ?");
  }

  find(clientId: ClientId, name: string): SessionPlace | undefined {
    return this.#find.get(clientId, name) as SessionPlace | undefined;
  }

  /** Most recently active first. */
  list(filter: { clientId?: ClientId }, limit: number): SessionSummary[] {
    const { clientId } = filter;
    const rows = clientId === undefined ? this.#byActivity.all(limit) : this.#byActivityOf.all(clientId, limit);
    return (rows as unknown as SessionRow[]).map(sessionOf);
  }

  /** The newest turns whose estimated tokens fit together, oldest first. Always whole turns. */
  recentTurns(place: SessionPlace, maxTokens: number): StoredTurn[] {
    const turns: StoredTurn[] = [];
    let tokens = 0;
    for (let next: number | null = place.lastTurn; next !== null;) {
      const row = this.#turn.get(next) as unknown as TurnRow;
      tokens += row.tokens;
      if (tokens > maxTokens) break;
      turns.push(turnOf(row));
      next = row.previous;
    }
    return turns.reverse();
  }

  /** Inside a transaction: the turn, and its session when `place` is undefined. Returns where the session stands then. */
  append(
    session: { readonly id: string; readonly clientId: ClientId; readonly name: string },
    place: SessionPlace | undefined,
    turn: StoredTurn,
  ): SessionPlace {
    const { id, clientId, name } = session;
    const { at } = turn;
    const row = place?.session ?? Number(this.#insertSession.run(id, clientId, name, at, at).lastInsertRowid);
    const { lastInsertRowid } = this.#insertTurn.run(
      row,
      place?.lastTurn ?? null,
      turn.id,
      at,
      turn.model,
      JSON.stringify(turn.messages),
      turn.tokens,
      turn.inputTokens,
      turn.outputTokens,
      turn.costUsd ?? null,
    );
    const lastTurn = Number(lastInsertRowid);
    this.#moveSession.run(at, place === undefined ? 0 : 1, lastTurn, row);
    return { session: row, lastTurn };
  }

  /** Inside a transaction: the session and all its turns. Tells whether there was one. */
  remove(id: string): boolean {
    this.#deleteTurns.run(id);
    return Number(this.#delete.run(id).changes) > 0;
  }
}

interface SessionRow {
  id: string;
  client_id: string;
  name: string;
  created_at: number;
  updated_at: number;
  turns: number;
}

interface TurnRow {
  previous: number | null;
  id: string;
  at: number;
  model: string;
  messages: string;
  tokens: number;
  input_tokens: number;
  output_tokens: number;
  cost_usd: number | null;
}

function sessionOf(row: SessionRow): SessionSummary {
  return {
    id: row.id,
    clientId: row.client_id as ClientId,
    name: row.name,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    turns: row.turns,
  };
}

function turnOf(row: TurnRow): StoredTurn {
  return {
    id: row.id,
    at: row.at,
    model: row.model,
    messages: JSON.parse(row.messages) as Json,
    tokens: row.tokens,
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    costUsd: row.cost_usd ?? undefined,
  };
}
