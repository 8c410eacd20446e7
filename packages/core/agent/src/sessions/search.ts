/** Finds what was said, in all conversations or those of one owner. */
import { SvcError } from "@svc/contract";
import { type FoundTurn, phrasesOf, type SoughtPhrase, type Store, type Word, wordsOf } from "@svc/store";
import { shownMessages } from "./shown-messages.ts";
import type { FoundMessage, SearchPage, SearchRequest, SessionInfo, SessionMessage, SnippetPart } from "./types.ts";

export interface SearchDeps {
  readonly store: Pick<Store, "sessions">;
  readonly redact: (text: string) => string;
  readonly infoOf: (session: FoundTurn["session"]) => SessionInfo;
}

/** Characters around what was found. */
const BEFORE_CHARS = 40;
const SNIPPET_CHARS = 160;

/** Throws BAD_REQUEST for a cursor that no page gave. */
export function searchMessages(deps: SearchDeps, { query, clientId, limit, before }: SearchRequest): SearchPage {
  const { store, redact, infoOf } = deps;
  const phrases = phrasesOf(query);
  const results: FoundMessage[] = [];
  let next = before === undefined ? undefined : turnOf(before);
  for (;;) {
    const wanted = limit - results.length;
    const found = store.sessions.search(phrases, { clientId }, wanted, next);
    for (const { n, turn, session } of found) {
      const message = bestMessage(shownMessages(turn, redact), phrases);
      if (message) {
        const { message: best, parts } = message;
        results.push({ session: infoOf(session), turnId: turn.id, at: turn.at, role: best.role, snippet: parts });
      }
      next = n;
    }
    if (found.length < wanted) return { results, before: undefined };
    if (results.length === limit) return { results, before: String(next) };
  }
}

function turnOf(cursor: string): number {
  if (/^\d{1,15}$/.test(cursor)) return Number(cursor);
  throw new SvcError("BAD_REQUEST", "The cursor is not one that a page of results gave.");
}

/**
 * The message of the turn with most of the phrases. Undefined when none has any: what was found is a secret that is not
 * shown, and whether a secret was said must not be found out by searching for it.
 */
function bestMessage(messages: readonly SessionMessage[], phrases: readonly SoughtPhrase[]) {
  let best: { message: SessionMessage; hits: readonly Hit[]; count: number } | undefined;
  const missing = new Set(phrases);
  for (const message of messages) {
    const words = wordsOf(message.text);
    const hits: Hit[] = [];
    let count = 0;
    for (const phrase of phrases) {
      const found = hitsOf(words, phrase);
      if (found.length === 0) continue;
      hits.push(...found);
      missing.delete(phrase);
      count += 1;
    }
    if (count > (best?.count ?? 0)) best = { message, hits, count };
  }
  if (best === undefined || missing.size > 0) return undefined;
  return { message: best.message, parts: snippetOf(best.message.text, best.hits) };
}

interface Hit {
  readonly start: number;
  readonly end: number;
}

/** Enough for a snippet. */
const MAX_HITS = 50;

function hitsOf(words: readonly Word[], { words: sought, isOpen }: SoughtPhrase): Hit[] {
  const last = sought.length - 1;
  const hits: Hit[] = [];
  for (let index = 0; index + last < words.length && hits.length < MAX_HITS; index += 1) {
    const isHit = sought.every((word, offset) => {
      const here = words[index + offset]!.word;
      return isOpen && offset === last ? here.startsWith(word) : here === word;
    });
    if (isHit) hits.push({ start: words[index]!.start, end: words[index + last]!.end });
  }
  return hits;
}

/** One line around the first hit, in parts that are hits and parts that are not. */
function snippetOf(text: string, hits: readonly Hit[]): SnippetPart[] {
  const inOrder = hits.toSorted((one, other) => one.start - other.start || other.end - one.end);
  const first = inOrder[0]!.start;
  const from = first <= BEFORE_CHARS ? 0 : wordStart(text, first - BEFORE_CHARS, first);
  const to = Math.min(text.length, from + SNIPPET_CHARS);
  const parts: SnippetPart[] = [];
  const add = (start: number, end: number, isHit: boolean): void => {
    const part = text.slice(start, end).replaceAll(/\s+/g, " ");
    if (part !== "") parts.push({ text: part, isHit });
  };
  if (from > 0) parts.push({ text: "…", isHit: false });
  let at = from;
  for (const { start, end } of inOrder) {
    if (start < at || start >= to) continue;
    add(at, start, false);
    add(start, Math.min(end, to), true);
    at = Math.min(end, to);
  }
  add(at, to, false);
  if (to < text.length) parts.push({ text: "…", isHit: false });
  return parts;
}

/** Not in the middle of a word, or of a character. */
function wordStart(text: string, from: number, before: number): number {
  const space = text.slice(from, before).search(/\s/);
  if (space >= 0) return from + space + 1;
  return /[\uDC00-\uDFFF]/.test(text[from] ?? "") ? from + 1 : from;
}
