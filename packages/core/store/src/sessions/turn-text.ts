/**
 * What a person reads of a turn, and the words by which it is found. The migration of the search index uses the same
 * functions, so a change of `wordsOf` needs a step that builds the index again.
 */
import type { Json } from "@svc/contract";

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

/** Without half a character at its end. */
const wellFormed = (text: string): string => text.replace(/[\uD800-\uDBFF]$/, "").trimEnd();

const isObject = (value: Json | undefined): value is { readonly [name: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value);
