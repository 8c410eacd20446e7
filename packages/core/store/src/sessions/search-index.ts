/**
 * The full-text index of all turns, by the words of `turn-text.ts`. A turn is added with others some time after it was stored,
 * and before the next search: FTS5 writes several pages in each transaction it has a part in, whatever the number of rows.
 */
import type { DatabaseSync } from "node:sqlite";
import type { ClientId, Json } from "@svc/contract";
import { sessionOf, type SessionRow, turnOf, type TurnRow } from "./session-rows.ts";
import { indexedWords, type SpokenText, spokenTexts, wordsOf } from "./turn-text.ts";
import type { FoundTurn } from "../types.ts";
import { rowOf, rowsOf } from "../rows.ts";

/** Turns that are added in one transaction; as many wait for it at most. */
const BATCH = 512;
/** Words, and stored messages that are read for it, in characters. A longer turn is alone in its batch. */
const BATCH_CHARS = 2_000_000;

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
  readonly #commitNow: (change: () => void) => void;
  readonly #newest;
  readonly #waiting;
  readonly #messages;
  readonly #add;
  readonly #remove;
  readonly #removeSession;
  readonly #findAll;
  readonly #findOwn;
  readonly #hasSession;
  readonly #turn;
  readonly #session;
  /** Words of the turns that this process stored since the last batch, by their numbers: a batch doesn't read them back. */
  readonly #words = new Map<number, string>();
  #wordChars = 0;

  /** `commitNow` runs a change in a transaction and throws when that fails. */
  constructor(db: DatabaseSync, commitNow: (change: () => void) => void) {
    this.#commitNow = commitNow;
    // Turns are added in the order of their numbers, and each has a row, so that what is newer than the newest row waits.
    this.#newest = db.prepare("SELECT coalesce(max(id), 0) AS n FROM turn_words_docsize");
    // As one text: a row object for each of them costs three times as much.
    this.#waiting = db.prepare(
      "SELECT json_group_array(n) AS numbers FROM (SELECT n FROM turns WHERE n > ? ORDER BY n LIMIT ?)",
    );
    this.#messages = db.prepare("SELECT messages FROM turns WHERE n = ?");
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

  /** Inside the transaction that stores turn `n`. */
  stored(n: number, spoken: readonly SpokenText[]): void {
    const words = indexedWords(spoken);
    this.#words.set(n, words);
    this.#wordChars += words.length;
  }

  /** Inside a transaction, after its other changes. */
  beforeCommit(): void {
    if (this.#words.size >= BATCH || this.#wordChars >= BATCH_CHARS) this.#addBatch();
  }

  /** The numbers of turns that were undone are used again. */
  onRollback(): void {
    this.#forgetWords(Infinity);
  }

  /** Adds all turns that wait. When the disk refuses that, the newest are not found. */
  catchUp(): void {
    try {
      while (this.#waitingTurns(1).length > 0) this.#commitNow(() => this.#addBatch());
    } catch {
      // They wait until it can be written.
    }
  }

  #addBatch(): void {
    let chars = 0;
    let newest = 0;
    for (const n of this.#waitingTurns(BATCH)) {
      const known = this.#words.get(n);
      const text = known ?? (this.#messages.get(n) as { messages: string }).messages;
      chars += text.length;
      if (chars > BATCH_CHARS && chars > text.length) break;
      this.#add.run(n, known ?? wordsOfStored(text));
      newest = n;
    }
    this.#forgetWords(newest);
  }

  /** Of turns up to this number. Those of later turns, stored since the batch was due, go into the next one. */
  #forgetWords(upTo: number): void {
    for (const [n, words] of this.#words) {
      if (n > upTo) continue;
      this.#words.delete(n);
      this.#wordChars -= words.length;
    }
  }

  /** Numbers of the oldest turns that are not in the index. */
  #waitingTurns(limit: number): readonly number[] {
    const { n } = this.#newest.get() as { n: number };
    const { numbers } = this.#waiting.get(n, limit) as { numbers: string };
    return JSON.parse(numbers) as number[];
  }

  /** Inside a transaction. */
  remove(n: number): void {
    this.#words.delete(n);
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
    this.catchUp();
    const match = phrases.map(({ words, isOpen }) => `"${words.join(" ")}"${isOpen ? "*" : ""}`).join(" ");
    const rows = (clientId === undefined ? this.#findAll : this.#findOwn).all(match, before, limit, clientId ?? null);
    return rowsOf<{ n: number }>(rows).map(({ n }) => {
      const turn = rowOf<TurnRow>(this.#turn.get(n))!;
      return { n, turn: turnOf(turn), session: sessionOf(rowOf<SessionRow>(this.#session.get(turn.session))!) };
    });
  }
}

/** Damaged messages are found by no word. */
function wordsOfStored(messages: string): string {
  try {
    return indexedWords(spokenTexts(JSON.parse(messages) as Json));
  } catch {
    return "";
  }
}
