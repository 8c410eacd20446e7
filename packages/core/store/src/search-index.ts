/**
 * The index of all that was said, by the words of `turn-text.ts`. It is changed by hand in the transaction that changes the
 * turns: the schema has no triggers.
 */
import type { DatabaseSync } from "node:sqlite";
import type { ClientId, Json } from "@svc/contract";
import { sessionOf, type SessionRow, turnOf, type TurnRow } from "./session-rows.ts";
import { indexedWords, wordsOf } from "./turn-text.ts";
import type { FoundTurn } from "./types.ts";

/** Words of one search. */
const MAX_PHRASES = 32;

/** What is looked for: each is one word, or several that follow each other. */
export interface SoughtPhrase {
  readonly words: readonly string[];
  /** It may go on after the last word: it is being typed. */
  readonly isOpen: boolean;
}

/** What a person typed: words, and phrases in double quotes. It has no other syntax, so nothing in it is an error. */
export function phrasesOf(query: string): SoughtPhrase[] {
  const phrases: SoughtPhrase[] = [];
  for (const [part, quoted] of query.matchAll(/"([^"]*)"|[^\s"]+/g)) {
    const words = wordsOf(quoted ?? part).map(({ word }) => word);
    // A single letter begins half of all words.
    const isOpen = quoted === undefined && (words.at(-1)?.length ?? 0) > 1;
    if (words.length > 0) phrases.push({ words, isOpen });
  }
  return phrases.slice(0, MAX_PHRASES).map((phrase, index, all) => ({
    ...phrase,
    isOpen: phrase.isOpen && index === all.length - 1,
  }));
}

export class SearchIndex {
  readonly #add;
  readonly #remove;
  readonly #removeSession;
  readonly #findAll;
  readonly #findOwn;
  readonly #hasSession;
  readonly #turn;
  readonly #session;

  constructor(db: DatabaseSync) {
    this.#add = db.prepare("INSERT INTO turn_words (rowid, words) VALUES (?, ?)");
    this.#remove = db.prepare("DELETE FROM turn_words WHERE rowid = ?");
    this.#removeSession = db.prepare(`
      WITH RECURSIVE chain (n) AS (
        SELECT last_turn FROM sessions WHERE id = ?
        UNION ALL SELECT previous FROM turns JOIN chain USING (n) WHERE previous IS NOT NULL)
      DELETE FROM turn_words WHERE rowid IN chain`);
    // An older turn of a session's number is of one that was dropped, whose turns are not swept yet.
    const find = (owner: string) =>
      db.prepare(`
        SELECT t.n FROM turn_words AS w CROSS JOIN turns AS t ON t.n = w.rowid
          CROSS JOIN sessions AS s ON s.n = t.session AND t.n >= s.first_turn
        WHERE w.turn_words MATCH ?1 AND w.rowid < ?2 AND ${owner} ORDER BY w.rowid DESC LIMIT ?3`);
    this.#findAll = find("?4 IS NULL");
    this.#findOwn = find("s.client_id = ?4");
    this.#hasSession = db.prepare("SELECT 1 FROM sessions WHERE client_id = ? LIMIT 1");
    this.#turn = db.prepare("SELECT * FROM turns WHERE n = ?");
    this.#session = db.prepare("SELECT * FROM sessions WHERE n = ?");
  }

  /** Inside a transaction. */
  add(n: number, messages: Json): void {
    const words = indexedWords(messages);
    if (words !== "") this.#add.run(n, words);
  }

  /** Inside a transaction. */
  remove(n: number): void {
    this.#remove.run(n);
  }

  /** Inside a transaction, before the turns themselves. */
  removeSession(id: string): void {
    this.#removeSession.run(id);
  }

  /** Turns with all phrases, the newest first. */
  find(
    phrases: readonly SoughtPhrase[],
    clientId: ClientId | undefined,
    limit: number,
    before = Number.MAX_SAFE_INTEGER,
  ): FoundTurn[] {
    if (phrases.length === 0) return [];
    // Of a client without a conversation, all that others said would be looked through.
    if (clientId !== undefined && this.#hasSession.get(clientId) === undefined) return [];
    const match = phrases.map(({ words, isOpen }) => `"${words.join(" ")}"${isOpen ? "*" : ""}`).join(" ");
    const rows = (clientId === undefined ? this.#findAll : this.#findOwn).all(match, before, limit, clientId ?? null);
    return (rows as unknown as { n: number }[]).map(({ n }) => {
      const turn = this.#turn.get(n) as unknown as TurnRow;
      return { n, turn: turnOf(turn), session: sessionOf(this.#session.get(turn.session) as unknown as SessionRow) };
    });
  }
}
