/**
 * The full-text index of all turns, and the words, titles and previews that are made of what was said. A turn is added with others some time after it was stored,
 * and before the next search: FTS5 writes several pages in each transaction it has a part in, whatever the number of rows.
 */
import type { DatabaseSync } from "node:sqlite";
import type { ClientId, Json } from "@svc/contract";
import { type SessionRow, type TurnRow, sessionOf, turnOf } from "./session-rows.ts";
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

// What a person reads of a turn, and the words by which it is found. The migration of the search index uses the same functions, so a change
// of `wordsOf` needs a step that builds the index again.

/** A word of a text: folded, and where it stands in the text as it was written. */
export interface Word {
  /** Lower case, without accents; letters and digits only. */
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

export interface SpokenText {
  readonly role: "user" | "assistant";
  readonly text: string;
}

/** Longest part of a turn that is indexed, and longest word. What is longer is no text that people search for. */
const INDEXED_CHARS = 1_000_000;
const WORD_CHARS = 64;
/** As stored. Longer than what is shown: a secret is taken out before that is cut, and must not be cut before it is known. */
const STORED_CHARS = 400;

// oxlint-disable-next-line no-control-regex
const ASCII = /^[\0-\x7f]*$/;
const OTHER_SPACE = /[^\S ]|\p{Cc}/gu;

/** The words of a text in their order. */
export function wordsOf(text: string): Word[] {
  const isAscii = ASCII.test(text);
  const words: Word[] = [];
  for (const { 0: run, index } of text.matchAll(/[\p{L}\p{N}\p{M}]+/gu)) {
    let start = index;
    for (const part of isAscii ? [run] : partsOf(run)) {
      const end = start + part.length;
      const folded = isAscii ? [part.toLowerCase()] : fold(part);
      for (const word of folded) words.push({ word: word.slice(0, WORD_CHARS), start, end });
      start = end;
    }
  }
  return words;
}

/** In scripts that are written without spaces each character is a word, with the marks that follow it. */
function partsOf(run: string): readonly string[] {
  // The common run, without a look at each of its characters.
  if (!/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u.test(run))
    return [run];
  const parts: string[] = [];
  let isOpen = false;
  for (const char of run) {
    const isWord = isUnspaced(char);
    if (parts.length > 0 && (isMark(char) || (isOpen && !isWord))) parts[parts.length - 1] += char;
    else parts.push(char);
    if (!isMark(char)) isOpen = !isWord;
  }
  return parts;
}

const isMark = (char: string): boolean => /^\p{M}$/u.test(char);
const isUnspaced = (char: string): boolean =>
  /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]$/u.test(char);

/** One character may become several words: ½ is 1 and 2. */
const fold = (run: string): readonly string[] =>
  run
    .toLowerCase()
    .normalize("NFKD")
    .replaceAll(/\p{M}+/gu, "")
    .normalize("NFC")
    .match(/[\p{L}\p{N}]+/gu) ?? [];

/** Texts of a turn's messages. Whatever has another form than a model's messages has none. */
export function spokenTexts(messages: Json): readonly SpokenText[] {
  if (!Array.isArray(messages)) return [];
  const spoken: SpokenText[] = [];
  for (const message of messages as readonly Json[]) {
    const { role, content } = isObject(message) ? message : {};
    if ((role !== "user" && role !== "assistant") || !Array.isArray(content)) continue;
    let text = "";
    for (const part of content as readonly Json[]) {
      if (isObject(part) && part["type"] === "text" && typeof part["text"] === "string") text += part["text"];
    }
    if (text !== "") spoken.push({ role, text });
  }
  return spoken;
}

/** What the index is told of a turn: its words, with a space or other ASCII characters between them. */
export function indexedWords(spoken: readonly SpokenText[]): string {
  const all = spoken
    .map(({ text }) => text)
    .join("\n")
    .slice(0, INDEXED_CHARS);
  // The index's own tokenizer makes the same words of it.
  if (ASCII.test(all) && !hasLongWord(all)) return all.toLowerCase();
  return wordsOf(all)
    .map(({ word }) => word)
    .join(" ");
}

/** Of an ASCII text. A word that is too long covers one of these places, so the characters between them are not looked at. */
function hasLongWord(text: string): boolean {
  for (let at = WORD_CHARS; at < text.length; at += WORD_CHARS + 1) {
    const following = wordCharacters(text, at, 1);
    if (following > 0 && following + wordCharacters(text, at - 1, -1) > WORD_CHARS) return true;
  }
  return false;
}

/** How many follow each other from `start` on; the count ends past the longest word. */
function wordCharacters(text: string, start: number, step: 1 | -1): number {
  let count = 0;
  while (count <= WORD_CHARS && isWordCharacter(text.charCodeAt(start + count * step))) count += 1;
  return count;
}

/** False for NaN: there is no character. */
const isWordCharacter = (code: number): boolean =>
  (code >= 97 && code <= 122) || (code >= 48 && code <= 57) || (code >= 65 && code <= 90);

/** The first words of what a person said first; empty: they said nothing in words. */
export function titleOf(spoken: readonly SpokenText[]): string {
  const said = spoken.find(({ role }) => role === "user");
  return said === undefined ? "" : shortened(withoutFiles(said.text), STORED_CHARS);
}

/** Without what stands for files: where they were put is no word of a person's. With nothing else, by their names. */
function withoutFiles(text: string): string {
  if (!text.includes(":media/")) return text;
  const marker = /\[(?:IMAGE|AUDIO|VIDEO|DOCUMENT|STICKER):media\/[\d-]+\/[\da-f.]+-([^[\]/]+)\]/g;
  const words = text.replaceAll(marker, "");
  return words.trim() === "" ? text.replaceAll(marker, "$1") : words;
}

/** The beginning of what was said last. */
export function previewOf(spoken: readonly SpokenText[]): string {
  const last = spoken.at(-1);
  return last === undefined ? "" : shortened(last.text, STORED_CHARS);
}

/** One line of at most `most` characters, cut between words where it can be. */
export function shortened(text: string, most: number): string {
  if (text.length <= most && PLAIN_LINE.test(text)) return text;
  // Of a long text only as much is looked at as can be shown.
  const line = text
    .slice(0, most * 4)
    .replaceAll(OTHER_SPACE, " ")
    .replaceAll(/ {2,}/g, " ")
    .trim();
  if (line.length <= most) return line;
  const cut = line.slice(0, most - 1);
  const atWord = cut.slice(0, Math.max(cut.lastIndexOf(" "), 0));
  return `${wellFormed(atWord.length > most / 2 ? atWord : cut)}…`;
}

/** Words with one space between them, as nearly every short message is: half a microsecond in place of two. */
const PLAIN_LINE = /^[^\s\p{Cc}]+(?: [^\s\p{Cc}]+)*$/u;

/** Without half a character at its end. */
const wellFormed = (text: string): string => text.replace(/[\uD800-\uDBFF]$/, "").trimEnd();

const isObject = (value: Json | undefined): value is { readonly [name: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value);
