/** Conversations and the turns in them. A turn is one row: the messages it added, in the model's own form. */
import type { DatabaseSync } from "node:sqlite";
import type { ClientId, Json } from "@svc/contract";
import type { SessionSummary, StoredTurn } from "./types.ts";

export class SessionStore {
  readonly #find;
  readonly #insertSession;
  readonly #touchSession;
  readonly #insertTurn;
  readonly #turnsBackwards;
  readonly #byActivity;
  readonly #byActivityOf;
  readonly #delete;

  constructor(db: DatabaseSync) {
    this.#find = db.prepare("SELECT * FROM sessions WHERE client_id = ? AND name = ?");
    this.#insertSession = db.prepare("INSERT INTO sessions VALUES (?, ?, ?, ?, ?, 1)");
    this.#touchSession = db.prepare("UPDATE sessions SET updated_at = ?, turns = turns + 1 WHERE id = ?");
    this.#insertTurn = db.prepare(
      `INSERT INTO turns SELECT ?1, coalesce(max(seq), 0) + 1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9 FROM turns WHERE session_id = ?1`,
    );
    this.#turnsBackwards = db.prepare("SELECT * FROM turns WHERE session_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?");
    this.#byActivity = db.prepare("SELECT * FROM sessions ORDER BY updated_at DESC LIMIT ?");
    this.#byActivityOf = db.prepare("SELECT * FROM sessions WHERE client_id = ? ORDER BY updated_at DESC LIMIT ?");
    this.#delete = db.prepare("DELETE FROM sessions WHERE id = ?");
  }

  find(clientId: ClientId, name: string): SessionSummary | undefined {
    const row = this.#find.get(clientId, name) as SessionRow | undefined;
    return row && sessionOf(row);
  }

  /** Most recently active first. */
  list(filter: { clientId?: ClientId }, limit: number): SessionSummary[] {
    const rows =
      filter.clientId === undefined ? this.#byActivity.all(limit) : this.#byActivityOf.all(filter.clientId, limit);
    return (rows as unknown as SessionRow[]).map(sessionOf);
  }

  /** The newest turns whose estimated tokens fit together, oldest first. Always whole turns. */
  recentTurns(sessionId: string, maxTokens: number): StoredTurn[] {
    const turns: StoredTurn[] = [];
    let tokens = 0;
    for (let before = Number.MAX_SAFE_INTEGER; ;) {
      const page = this.turnsBefore(sessionId, before, 64);
      for (const turn of page) {
        tokens += turn.tokens;
        if (tokens > maxTokens) return turns.reverse();
        turns.push(turn);
      }
      const last = page.at(-1);
      if (last === undefined) return turns.reverse();
      before = last.seq;
    }
  }

  /** At most `limit` turns older than `seq`, newest first. */
  turnsBefore(sessionId: string, seq: number, limit: number): StoredTurn[] {
    return (this.#turnsBackwards.all(sessionId, seq, limit) as unknown as TurnRow[]).map(turnOf);
  }

  /** Inside a transaction: the session (when new) and the turn. */
  append(
    session: { id: string; clientId: ClientId; name: string; isNew: boolean },
    turn: Omit<StoredTurn, "seq" | "sessionId">,
  ): void {
    if (session.isNew) this.#insertSession.run(session.id, session.clientId, session.name, turn.at, turn.at);
    else this.#touchSession.run(turn.at, session.id);
    this.#insertTurn.run(
      session.id,
      turn.id,
      turn.at,
      turn.model,
      JSON.stringify(turn.messages),
      turn.tokens,
      turn.inputTokens,
      turn.outputTokens,
      turn.costUsd ?? null,
    );
  }

  /** Inside a transaction. */
  remove(id: string): boolean {
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
  session_id: string;
  seq: number;
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
    sessionId: row.session_id,
    seq: row.seq,
    at: row.at,
    model: row.model,
    messages: JSON.parse(row.messages) as Json,
    tokens: row.tokens,
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    costUsd: row.cost_usd ?? undefined,
  };
}
