/** A long answer as the messages that a platform takes, and which of them it has taken. */
import type { FeatureContext } from "@svc/contract";
import { parseJson } from "./json.ts";

/**
 * Parts of at most `maxChars` UTF-16 units, which no platform counts more strictly. Cut after a sentence, else after a
 * line, a word, a character; the white space at a cut is dropped. A code block that is cut is closed and opened again.
 * Nothing comes of a blank text.
 */
export function splitText(text: string, maxChars: number): string[] {
  if (!Number.isInteger(maxChars) || maxChars < MIN_CHARS) throw new RangeError("no text fits into so few characters");
  if (text.length <= maxChars) return text.trim() === "" ? [] : [text];
  if (maxChars >= FENCED_CHARS && isPlainlyFenced(text)) return splitFenced(text, maxChars);
  const parts: string[] = [];
  let rest = text.trimEnd();
  while (rest.length > maxChars) {
    const at = cutOf(rest, maxChars);
    parts.push(rest.slice(0, at).trimEnd());
    rest = withoutBlankStart(rest.slice(at));
  }
  return [...parts, rest].filter((part) => part.trim() !== "");
}

/** A surrogate pair fits. */
const MIN_CHARS = 2;
/** Below it, fences would take the room of the text. */
const FENCED_CHARS = 200;

function splitFenced(text: string, maxChars: number): string[] {
  const parts: string[] = [];
  let rest = text.trimEnd();
  /** The line that the next part begins with, because the part before it ended inside of a block. */
  let opening = "";
  while (opening.length + rest.length > maxChars) {
    const at = cutOf(rest, maxChars - opening.length - CLOSING.length);
    const piece = opening + rest.slice(0, at).trimEnd();
    rest = withoutBlankStart(rest.slice(at));
    opening = fenceLeftOpen(piece);
    parts.push(closed(piece, opening));
    // The block ended at the cut: what closed this part stands for its end.
    if (opening !== "" && /^```(?=\s|$)/.test(rest)) [opening, rest] = ["", withoutBlankStart(rest.slice(3))];
  }
  if (rest.trim() !== "") parts.push(opening + rest);
  return parts.filter((part) => part.trim() !== "");
}

const CLOSING = "\n```";

/** A block whose first line alone fits moves to the next part as a whole. */
function closed(piece: string, opening: string): string {
  if (opening === "") return piece;
  const onlyOpened = piece.endsWith(`\n${opening.trimEnd()}`);
  return onlyOpened ? piece.slice(0, -opening.length).trimEnd() : piece + CLOSING;
}

/** Where to cut so that at most `room` units come before: never 0, never inside a surrogate pair. */
function cutOf(text: string, room: number): number {
  // One more: a space right behind a full part is a fine place.
  const window = text.slice(0, room + 1);
  for (const endsOf of [sentenceEnds, lineEnds, wordEnds]) {
    const at = lastEnd(endsOf(window), room);
    // A cut near the beginning would make many tiny messages of one text.
    if (at >= room / 4) return at;
  }
  return characterCut(text, room);
}

/** Latin punctuation is an end only before white space: "3.5" and "example.org" hold none. A blank line always is one. */
const sentenceEnds = (text: string): Iterable<RegExpExecArray> =>
  text.matchAll(/[.!?…]["'”’»)\]*_]*(?=\s)|[。！？]["'”’»）」』]*|(?=\n[^\S\n]*\n)/g);
const lineEnds = (text: string): Iterable<RegExpExecArray> => text.matchAll(/(?=\n)/g);
const wordEnds = (text: string): Iterable<RegExpExecArray> => text.matchAll(/(?=\s)/g);

/** End of the last match that is not behind `room`; 0 without one. */
function lastEnd(matches: Iterable<RegExpExecArray>, room: number): number {
  let last = 0;
  for (const match of matches) {
    const end = match.index + match[0].length;
    if (end <= room) last = end;
  }
  return last;
}

/** Before the character that would be cut, as a reader sees characters: one may be of many units. */
function characterCut(text: string, room: number): number {
  const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });
  const at = graphemes.segment(text.slice(0, room + LONGEST_CHARACTER)).containing(room)?.index ?? 0;
  if (at > 0) return at;
  const isInsidePair = /^[\uD800-\uDBFF][\uDC00-\uDFFF]/.test(text.slice(room - 1, room + 1));
  return isInsidePair ? room - 1 : room;
}

/** Families and flags of regions have some thirty units. */
const LONGEST_CHARACTER = 64;

/** Blank lines go; the first one that is not keeps its indentation, unless the cut was in the middle of a line. */
function withoutBlankStart(text: string): string {
  const blank = text.length - text.trimStart().length;
  const indented = text.lastIndexOf("\n", blank - 1) + 1;
  return blank === 0 ? text : text.slice(indented === 0 ? blank : indented);
}

// Code blocks between lines of three backticks, as models write them.

/** Whether every fence in it is of the one form that can be closed and opened again without understanding more. */
export function isPlainlyFenced(text: string): boolean {
  const without = text.replaceAll(PLAIN_FENCE, "");
  return without !== text && !/```|~~~/.test(without);
}

const PLAIN_FENCE = /^```[\w+#.-]{0,20}$/gm;

/** The line that opens the block in which the text ends, with its line break; blank when it ends outside of any. */
export function fenceLeftOpen(text: string): string {
  let open = "";
  for (const [line] of text.matchAll(PLAIN_FENCE)) open = open === "" ? `${line}\n` : "";
  return open;
}

/**
 * The parts of a multi-request message that the platform has already accepted. A retry continues where the last try stopped, in the next
 * process too, so that the reader does not get the beginning twice.
 */
export interface SentParts {
  has(part: string): boolean;
  /** The platform's id of the first part that has one. */
  readonly platformId: string | undefined;
  /** Resolves once it is on disk. A full disk is no error: it is known at least as long as this process lives. */
  add(part: string, platformId: string | undefined): Promise<void>;
  /** All of it was taken. */
  end(): void;
}

/** Resolves with the stored state of a delivery. */
export type SentPartsOf = (deliveryId: string) => Promise<SentParts>;

interface Sent {
  readonly parts: readonly string[];
  readonly platformId?: string;
}

/** Who is forgotten is sent anew as a whole, which takes a thousand half deliveries that were given up. */
const MOST = 1000;
/** One text for all of them: there are few, and their ids say nothing of their age. */
const NAME = "sent-parts";

export function sentPartsIn({ state }: Pick<FeatureContext, "state">): SentPartsOf {
  let loading: Promise<Map<string, Sent>> | undefined;
  const load = (): Promise<Map<string, Sent>> =>
    (loading ??= state.get(NAME).then(deliveriesOf, (error: unknown) => {
      // What could not be read now may be read by the next try.
      loading = undefined;
      throw error;
    }));
  return async (deliveryId) => {
    const all = await load();
    const sent = (): Sent => all.get(deliveryId) ?? { parts: [] };
    const keep = (): Promise<void> => state.set(NAME, JSON.stringify([...all])).catch(() => undefined);
    return {
      has: (part) => sent().parts.includes(part),
      get platformId() {
        return sent().platformId;
      },
      async add(part, id) {
        const { parts, platformId = id } = sent();
        all.set(deliveryId, { parts: [...parts, part], ...(platformId !== undefined && { platformId }) });
        for (const oldest of all.keys()) if (all.size > MOST) all.delete(oldest);
        await keep();
      },
      end() {
        // Not waited for: the end of the delivery goes to disk right after it.
        if (all.delete(deliveryId)) void keep();
      },
    };
  };
}

function deliveriesOf(text: string | undefined): Map<string, Sent> {
  const list = text === undefined ? [] : parseJson(Buffer.from(text));
  return new Map((Array.isArray(list) ? list : []) as unknown as [string, Sent][]);
}
