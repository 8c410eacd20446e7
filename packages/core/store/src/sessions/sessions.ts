/** Conversations and the turns in them. A turn is one row: the messages it added, in the model's own form. */
import type { DatabaseSync } from "node:sqlite";
import type { ClientId } from "@svc/contract";
import type { ConversationStore } from "./conversations.ts";
import {
  type SearchIndex,
  type SoughtPhrase,
  type SpokenText,
  previewOf,
  spokenTexts,
  titleOf,
} from "./search-index.ts";
import { type SessionRow, type TurnRow, type UsageRow, sessionOf, turnOf } from "./session-rows.ts";
import type {
  FoundTurn,
  ListPosition,
  NewTurn,
  SessionChanges,
  SessionFilter,
  SessionName,
  SessionPlace,
  SessionSummary,
  SessionUsage,
  StoredSession,
  StoredTurn,
  TurnMeta,
  TurnPage,
} from "../types.ts";
import { rowOf, rowsOf } from "../rows.ts";

export interface SessionStoreDeps {
  readonly search: SearchIndex;
  readonly activity: SessionActivity;
  readonly conversations: ConversationStore;
}

export class SessionStore {
  readonly #find;
  readonly #byId;
  readonly #idOf;
  readonly #insertSession;
  readonly #moveSession;
  readonly #insertTurn;
  readonly #deleteTurn;
  readonly #turn;
  readonly #search: SearchIndex;
  readonly #activity: SessionActivity;
  readonly #set;
  readonly #deleteTurns;
  readonly #rename;
  readonly #used;
  readonly #conversations: ConversationStore;
  readonly #endGrants;
  readonly #files: SessionFiles;
  readonly #delete;
  readonly #replace;

  constructor(db: DatabaseSync, { search, activity, conversations }: SessionStoreDeps) {
    this.#conversations = conversations;
    this.#find = db.prepare(
      "SELECT n AS session, last_turn AS lastTurn FROM sessions WHERE client_id = ? AND name = ?",
    );
    this.#byId = db.prepare("SELECT * FROM sessions WHERE id = ?");
    this.#idOf = db.prepare("SELECT id FROM sessions WHERE n = ?");
    // The turn that follows gets this row number: SQLite gives the largest one and one more.
    this.#insertSession = db.prepare(
      `INSERT INTO sessions (id, client_id, name, created_at, updated_at, turns, last_turn, title, preview, first_turn)
       SELECT ?, ?, ?, ?, ?, 1, next, ?, ?, next FROM (SELECT coalesce(max(n), 0) + 1 AS next FROM turns)`,
    );
    // Whoever archives a conversation has done with it; something new in it is not done with.
    this.#moveSession = db.prepare(
      `UPDATE sessions SET updated_at = ?, turns = turns + 1, last_turn = ?, preview = iif(?3 = '', preview, ?3),
         title = iif(title = '', ?4, title), archived_at = NULL
       WHERE n = ? AND last_turn = ? AND client_id = ? AND name = ?`,
    );
    this.#insertTurn = db.prepare("INSERT INTO turns VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?)");
    this.#deleteTurn = db.prepare("DELETE FROM turns WHERE n = ?");
    this.#turn = db.prepare("SELECT * FROM turns WHERE n = ?");
    this.#search = search;
    this.#activity = activity;
    const most = "min(turns, ?1)";
    this.#set = {
      title: db.prepare("UPDATE sessions SET title = ?, titled_by = ? WHERE n = ?"),
      pinned: db.prepare("UPDATE sessions SET pinned_at = ? WHERE n = ?"),
      archived: db.prepare("UPDATE sessions SET archived_at = ? WHERE n = ?"),
      read: db.prepare(`UPDATE sessions SET turns_read = ${most} WHERE id = ?2 AND turns_read < ${most}`),
    };
    this.#deleteTurns = db.prepare(`
      WITH RECURSIVE chain (n) AS (
        SELECT last_turn FROM sessions WHERE id = ?
        UNION ALL SELECT previous FROM turns JOIN chain USING (n) WHERE previous IS NOT NULL)
      DELETE FROM turns WHERE n IN chain`);
    this.#delete = db.prepare("DELETE FROM sessions WHERE id = ?");
    this.#replace = db.prepare("UPDATE turns SET replaced = 1 WHERE n = ?");
    this.#rename = db.prepare("UPDATE sessions SET name = ? WHERE n = ?");
    this.#used = db.prepare(`
      WITH RECURSIVE chain (n, previous, tokens_in, tokens_out, cost) AS (
        SELECT n, previous, input_tokens, output_tokens, cost_usd FROM turns WHERE n = ?1 AND session = ?2
        UNION ALL
        SELECT t.n, t.previous, t.input_tokens, t.output_tokens, t.cost_usd FROM turns AS t JOIN chain
          ON t.n = chain.previous WHERE t.session = ?2 LIMIT ?3)
      SELECT count(*) AS turns, total(tokens_in) AS inputTokens, total(tokens_out) AS outputTokens,
        iif(count(cost) = count(*), total(cost), NULL) AS costUsd FROM chain`);
    this.#endGrants = db.prepare(
      "DELETE FROM grants WHERE (owner, name) IN (SELECT client_id, name FROM sessions WHERE id = ?)",
    );
    this.#files = new SessionFiles(db);
  }

  find(clientId: ClientId, name: string): SessionPlace | undefined {
    return this.#find.get(clientId, name) as SessionPlace | undefined;
  }

  /** Pinned ones first, then the most recently active. `after`: those that follow this position in the list. */
  list(filter: SessionFilter, limit: number, after?: ListPosition): SessionSummary[] {
    return this.#activity.list(filter, limit, after);
  }

  /** Turns with all these phrases, the newest first; `before`: those older than this turn. No phrase finds nothing. */
  search(
    phrases: readonly SoughtPhrase[],
    { clientId }: Pick<SessionFilter, "clientId">,
    limit: number,
    before?: number,
  ): FoundTurn[] {
    return this.#search.find(phrases, clientId, limit, before);
  }

  /** Inside a transaction. Tells whether there is such a session. */
  change(id: string, { title, pinned, archived }: SessionChanges, nowMs: number): boolean {
    const row = rowOf<SessionRow>(this.#byId.get(id));
    if (row === undefined) return false;
    if (title === null) this.#set.title.run(this.#firstWords(row), "words", row.n);
    else if (title !== undefined) this.#set.title.run(title, "person", row.n);
    if (pinned !== undefined) this.#set.pinned.run(pinned ? nowMs : null, row.n);
    if (archived !== undefined) this.#set.archived.run(archived ? nowMs : null, row.n);
    return true;
  }

  #firstWords({ n, first_turn: first }: SessionRow): string {
    const turn = rowOf<TurnRow>(this.#turn.get(first));
    return turn?.session === n ? titleOf(spokenTexts(turnOf(turn).messages)) : "";
  }

  /** Inside a transaction: a title of the model's, unless a person chose one. Tells whether it was taken. */
  suggestTitle(id: string, title: string): boolean {
    const row = rowOf<SessionRow>(this.#byId.get(id));
    if (row === undefined || row.titled_by === "person") return false;
    this.#set.title.run(title, "model", row.n);
    return true;
  }

  /** Inside a transaction: an operator has seen so many of its turns. Tells whether that is news. */
  markRead(id: string, turns: number): boolean {
    return Number(this.#set.read.run(turns, id).changes) > 0;
  }

  byId(id: string): StoredSession | undefined {
    const row = rowOf<SessionRow>(this.#byId.get(id));
    return row && { ...sessionOf(row), place: { session: row.n, lastTurn: row.last_turn } };
  }

  /** The id of the session that stands there. */
  idOf({ session }: SessionPlace): string | undefined {
    return (this.#idOf.get(session) as { id: string } | undefined)?.id;
  }

  /** The newest turns whose estimated tokens fit together, oldest first. Always whole turns; replaced ones are left out. */
  recentTurns(place: SessionPlace, maxTokens: number): StoredTurn[] {
    const turns: StoredTurn[] = [];
    let tokens = 0;
    for (const row of this.#backwards(place)) {
      if (row.replaced === 1) continue;
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

  /** Row of a turn that did not end well and in which nothing acted, if it is among the newest `limit`, and not from before `sinceMs`. */
  replaceable(place: SessionPlace, turnId: string, limit = 1, sinceMs = -Infinity): number | undefined {
    let seen = 0;
    for (const row of this.#backwards(place)) {
      if (row.at < sinceMs) break;
      if (row.id === turnId && row.state !== "done" && row.replaced === 0) {
        const acted = row.meta !== null && (JSON.parse(row.meta) as TurnMeta).acted === true;
        if (!acted) return row.n;
      }
      seen += 1;
      if (seen === limit) break;
    }
    return undefined;
  }

  /** Inside a transaction: this row of `replaceable` is left out of what models are told from now on. */
  replace(row: number): void {
    this.#replace.run(row);
  }

  /** Row numbers are used again after a deletion, so a place kept too long may lead into another session: stop there. */
  *#backwards({ session, lastTurn }: SessionPlace): Generator<TurnRow> {
    for (let next: number | null = lastTurn; next !== null;) {
      const row: TurnRow | undefined = rowOf(this.#turn.get(next));
      if (row?.session !== session) return;
      yield row;
      next = row.previous;
    }
  }

  /** Inside a transaction: the turn, and its session when `place` is undefined. Returns where the session stands then. */
  append(session: SessionName, place: SessionPlace | undefined, turn: NewTurn): SessionPlace {
    const { id, clientId, name } = session;
    const spoken = spokenTexts(turn.messages);
    const { at, title = titleOf(spoken) } = turn;
    const preview = previewOf(spoken);
    if (place === undefined) {
      const begun = Number(this.#insertSession.run(id, clientId, name, at, at, title, preview).lastInsertRowid);
      return { session: begun, lastTurn: this.#insert(begun, null, turn, spoken) };
    }
    const lastTurn = this.#insert(place.session, place.lastTurn, turn, spoken);
    const move = [at, lastTurn, preview, title, place.session, place.lastTurn, clientId, name] as const;
    const { changes } = this.#moveSession.run(...move);
    if (Number(changes) > 0) return { session: place.session, lastTurn };
    // The session was removed, or made anew, while its writer remembered the old place.
    this.#deleteTurn.run(lastTurn);
    this.#search.remove(lastTurn);
    return this.append(session, this.find(clientId, name), turn);
  }

  #insert(session: number, previous: number | null, turn: NewTurn, spoken: readonly SpokenText[]): number {
    const { lastInsertRowid } = this.#insertTurn.run(
      session,
      previous,
      turn.id,
      turn.at,
      turn.model,
      turn.messagesJson ?? JSON.stringify(turn.messages),
      turn.tokens,
      turn.inputTokens,
      turn.outputTokens,
      turn.costUsd ?? null,
      turn.state ?? "done",
      turn.meta ? JSON.stringify(turn.meta) : null,
    );
    const n = Number(lastInsertRowid);
    this.#search.stored(n, spoken);
    this.#activity.stored();
    return n;
  }

  /** What its newest turns have used, at most `limit` of them. */
  usageOf({ session, lastTurn }: SessionPlace, limit: number): SessionUsage {
    const { costUsd, ...used } = rowOf<UsageRow>(this.#used.get(lastTurn, session, limit))!;
    return { ...used, costUsd: costUsd ?? undefined };
  }

  /**
   * Inside a transaction: gives the session another name, so that the next turn under this one begins a new session. What was
   * allowed in it ends. Tells whether there was one.
   */
  putAside(clientId: ClientId, name: string): boolean {
    const place = this.find(clientId, name);
    if (!place) return false;
    const id = this.idOf(place);
    if (id !== undefined) this.#endGrants.run(id);
    let free = `${name}.${place.session}`;
    while (this.find(clientId, free)) free += `.${place.session}`;
    this.#rename.run(free, place.session);
    this.#files.rename(clientId, name, free);
    return true;
  }

  /** Inside a transaction: the session and all its turns, and what was chosen and allowed in it. Tells whether there was one. */
  remove(id: string): boolean {
    this.#files.disownAll(id);
    this.#search.removeSession(id);
    this.#deleteTurns.run(id);
    this.#conversations.forgetIn(id);
    this.#endGrants.run(id);
    return Number(this.#delete.run(id).changes) > 0;
  }
}

/** Turns after which the index is brought up to date; a query reads the rows of as many. */
const BATCH = 512;

const MOVED = `
  SELECT session FROM turns WHERE n > coalesce(
    (SELECT listed_turn FROM sessions WHERE listed_turn > 0 ORDER BY listed_turn DESC LIMIT 1), 0)`;

/**
 * Conversations by their newest turn. An index of that is two pages which every commit of a turn would write, so the index holds
 * `listed_turn`, which follows `last_turn` some hundred turns at a time. A query adds the conversations that moved since then: those
 * of all turns newer than the newest one in the index.
 */
export class SessionActivity {
  readonly #update;
  readonly #lists;
  /** Turns since the index was brought up to date, as far as this process knows. */
  #turns = 0;

  constructor(db: DatabaseSync) {
    this.#update = db.prepare(
      `UPDATE sessions SET listed_turn = last_turn WHERE n IN (${MOVED}) AND listed_turn <> last_turn`,
    );
    const list = (which: string, order: string, owner: string) =>
      db.prepare(`
        SELECT * FROM sessions WHERE ${which} AND ${order} < ?1
          AND (?2 IS NULL OR (archived_at IS NOT NULL) = ?2) AND ${owner}
        ORDER BY ${order} DESC LIMIT ?3`);
    const both = (which: string, order: string) => ({
      all: list(which, order, "?4 IS NULL"),
      own: list(which, order, "client_id = ?4"),
    });
    this.#lists = {
      pinned: both("pinned_at IS NOT NULL", "last_turn"),
      moved: both(`n IN (${MOVED}) AND listed_turn <> last_turn AND pinned_at IS NULL`, "last_turn"),
      listed: both("listed_turn > 0 AND listed_turn = last_turn AND pinned_at IS NULL", "listed_turn"),
    };
  }

  /** A turn was stored. */
  stored(): void {
    this.#turns += 1;
  }

  /** Inside a transaction, after its other changes. */
  beforeCommit(): void {
    if (this.#turns >= BATCH) this.update();
  }

  /** Inside a transaction: from here on `listed_turn` is `last_turn`, until the next turn. */
  update(): void {
    this.#update.run();
    this.#turns = 0;
  }

  /** Pinned ones first, then the most recently active. `after`: those that follow this position in the list. */
  list({ clientId, archived }: SessionFilter, limit: number, after?: ListPosition): SessionSummary[] {
    const isArchived = archived === undefined ? null : Number(archived);
    const read = (
      which: "pinned" | "moved" | "listed",
      room: number,
      before = Number.MAX_SAFE_INTEGER,
    ): SessionRow[] => {
      const query = this.#lists[which][clientId === undefined ? "all" : "own"];
      return rowsOf<SessionRow>(query.all(before, isArchived, room, clientId ?? null));
    };
    const isBehindPinned = after !== undefined && !after.isPinned;
    const pinned = isBehindPinned ? [] : read("pinned", limit, after?.newestTurn);
    const room = limit - pinned.length;
    const before = isBehindPinned ? after.newestTurn : undefined;
    const others = [...read("moved", room, before), ...read("listed", room, before)];
    others.sort((a, b) => b.last_turn - a.last_turn);
    return [...pinned, ...others.slice(0, room)].map(sessionOf);
  }
}

/**
 * Which conversation the files of sent messages belong to. Those of a message that waits go with it into the next conversation of the name.
 */
export class SessionFiles {
  readonly #rename;
  readonly #disown;
  readonly #disownAll;

  constructor(db: DatabaseSync) {
    const those = `turn_id IS NOT NULL AND session_owner = ? AND session = ?
      AND turn_id NOT IN (SELECT turn_id FROM open_turns)`;
    const disown = "UPDATE uploads SET session_owner = NULL, session = NULL WHERE";
    this.#rename = db.prepare(`UPDATE uploads SET session = ? WHERE ${those}`);
    this.#disown = db.prepare(`${disown} ${those}`);
    this.#disownAll = db.prepare(
      `${disown} turn_id IS NOT NULL AND (session_owner, session) IN (SELECT client_id, name FROM sessions WHERE id = ?)
         AND turn_id NOT IN (SELECT turn_id FROM open_turns)`,
    );
  }

  /** Inside the transaction that gives the conversation another name. */
  rename(owner: ClientId, from: string, to: string): void {
    this.#rename.run(to, owner, from);
  }

  /** Inside the transaction that removes the conversation: its files can be read by no other, and are removed next. */
  disown(owner: ClientId, name: string): void {
    this.#disown.run(owner, name);
  }

  /** The same by the conversation's id, while its row is there. */
  disownAll(id: string): void {
    this.#disownAll.run(id);
  }
}
