/** Conversations and the turns in them. A turn is one row: the messages it added, in the model's own form. */
import type { DatabaseSync } from "node:sqlite";
import type { ClientId, Json } from "@svc/contract";
import type { SessionPlace, SessionSummary, StoredSession, StoredTurn, TurnPage } from "./types.ts";

export class SessionStore {
  readonly #find;
  readonly #byId;
  readonly #idOf;
  readonly #insertSession;
  readonly #moveSession;
  readonly #insertTurn;
  readonly #deleteTurn;
  readonly #turn;
  readonly #byActivity;
  readonly #byActivityOf;
  readonly #deleteTurns;
  readonly #delete;

  constructor(db: DatabaseSync) {
    this.#find = db.prepare(
      "SELECT n AS session, last_turn AS lastTurn FROM sessions WHERE client_id = ? AND name = ?",
    );
    this.#byId = db.prepare("SELECT * FROM sessions WHERE id = ?");
    this.#idOf = db.prepare("SELECT id FROM sessions WHERE n = ?");
    // The turn that follows gets this row number: SQLite gives the largest one and one more.
    this.#insertSession = db.prepare(
      "INSERT INTO sessions VALUES (NULL, ?, ?, ?, ?, ?, 1, (SELECT coalesce(max(n), 0) + 1 FROM turns))",
    );
    this.#moveSession = db.prepare(
      `UPDATE sessions SET updated_at = ?, turns = turns + 1, last_turn = ?
       WHERE n = ? AND last_turn = ? AND client_id = ? AND name = ?`,
    );
    this.#insertTurn = db.prepare("INSERT INTO turns VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    this.#deleteTurn = db.prepare("DELETE FROM turns WHERE n = ?");
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

  byId(id: string): StoredSession | undefined {
    const row = this.#byId.get(id) as unknown as SessionRow | undefined;
    return row && { ...sessionOf(row), place: { session: row.n, lastTurn: row.last_turn } };
  }

  /** The id of the session that stands there. */
  idOf({ session }: SessionPlace): string | undefined {
    return (this.#idOf.get(session) as { id: string } | undefined)?.id;
  }

  /** The newest turns whose estimated tokens fit together, oldest first. Always whole turns. */
  recentTurns(place: SessionPlace, maxTokens: number): StoredTurn[] {
    const turns: StoredTurn[] = [];
    let tokens = 0;
    for (const row of this.#backwards(place)) {
      tokens += row.tokens;
      if (tokens > maxTokens) break;
      turns.push(turnOf(row));
    }
    return turns.reverse();
  }

  /** The turn that `place` names and those before it, at most `limit`. A place in another session holds none. */
  turnsBefore(place: SessionPlace, limit: number): TurnPage {
    const turns: StoredTurn[] = [];
    for (const row of this.#backwards(place)) {
      if (turns.length === limit) return { turns: turns.reverse(), before: { ...place, lastTurn: row.n } };
      turns.push(turnOf(row));
    }
    return { turns: turns.reverse(), before: undefined };
  }

  /** Row numbers are used again after a deletion, so a place kept too long may lead into another session: stop there. */
  *#backwards({ session, lastTurn }: SessionPlace): Generator<TurnRow> {
    for (let next: number | null = lastTurn; next !== null;) {
      const row = this.#turn.get(next) as unknown as TurnRow | undefined;
      if (row?.session !== session) return;
      yield row;
      next = row.previous;
    }
  }

  /** Inside a transaction: the turn, and its session when `place` is undefined. Returns where the session stands then. */
  append(session: SessionName, place: SessionPlace | undefined, turn: StoredTurn): SessionPlace {
    const { id, clientId, name } = session;
    const { at } = turn;
    if (place === undefined) {
      const begun = Number(this.#insertSession.run(id, clientId, name, at, at).lastInsertRowid);
      return { session: begun, lastTurn: this.#insert(begun, null, turn) };
    }
    const lastTurn = this.#insert(place.session, place.lastTurn, turn);
    const { changes } = this.#moveSession.run(at, lastTurn, place.session, place.lastTurn, clientId, name);
    if (Number(changes) > 0) return { session: place.session, lastTurn };
    // The session was removed, or made anew, while its writer remembered the old place.
    this.#deleteTurn.run(lastTurn);
    return this.append(session, this.find(clientId, name), turn);
  }

  #insert(session: number, previous: number | null, turn: StoredTurn): number {
    const { lastInsertRowid } = this.#insertTurn.run(
      session,
      previous,
      turn.id,
      turn.at,
      turn.model,
      JSON.stringify(turn.messages),
      turn.tokens,
      turn.inputTokens,
      turn.outputTokens,
      turn.costUsd ?? null,
    );
    return Number(lastInsertRowid);
  }

  /** Inside a transaction: the session and all its turns. Tells whether there was one. */
  remove(id: string): boolean {
    this.#deleteTurns.run(id);
    return Number(this.#delete.run(id).changes) > 0;
  }
}

interface SessionName {
  readonly id: string;
  readonly clientId: ClientId;
  readonly name: string;
}

interface SessionRow {
  n: number;
  id: string;
  client_id: string;
  name: string;
  created_at: number;
  updated_at: number;
  turns: number;
  last_turn: number;
}

interface TurnRow {
  n: number;
  session: number;
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
