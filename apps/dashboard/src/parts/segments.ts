/**
 * A long Markdown text in parts that read alone as they read within it. While an answer grows only its last part is read again, and a
 * long one is Markdown to its end: the reader looks at a part's beginning only.
 */

/** So long at least is a part, the last one apart. */
const MIN_CHARS = 2_000;
/** Nesting of lists and quotes; the parser also treats deeper levels as text. */
const MAX_DEPTH = 12;
/** A link may be defined anywhere in the text, and is used in all of it. */
const DEFINITION = /^ {0,3}\[[^\]]+\]:/;
/** Lines that continue a block after a blank line: an item or its content, a quote or a table. */
const GOES_ON = /^(?:\s|[-*+>|]|\d+[.)])/;
/** The marker of an item or a quote; its content follows. */
const MARKER = /^(?:[-*+>]|\d{1,9}[.)])(?=\s)/;

/** Together they are the text. */
export function segmentsOf(text: string): string[] {
  if (text.length < MIN_CHARS * 2) return [text];
  const segments: string[] = [];
  let from = 0;
  let fence: string | undefined;
  let isBlankBefore = false;
  for (let at = 0; at < text.length;) {
    const newline = text.indexOf("\n", at);
    const end = newline === -1 ? text.length : newline;
    const line = text.slice(at, end);
    const isOpen = fence !== undefined;
    if (DEFINITION.test(line)) return [text];
    // A line that is not whole yet may become another kind of line.
    if (!isOpen && isBlankBefore && newline !== -1 && at - from >= MIN_CHARS && line !== "" && !GOES_ON.test(line)) {
      segments.push(text.slice(from, at));
      from = at;
    }
    fence = fenceAfter(fence, line);
    isBlankBefore = line.trim() === "";
    at = end + 1;
  }
  return [...segments, text.slice(from)];
}

/** The marks of the code block that is open behind the line. */
function fenceAfter(open: string | undefined, line: string): string | undefined {
  let rest = line.trimStart();
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    const marker = MARKER.exec(rest)?.[0];
    if (marker === undefined) break;
    rest = rest.slice(marker.length).trimStart();
  }
  const mark = rest.slice(0, 1);
  if (mark !== "`" && mark !== "~") return open;
  let count = 0;
  while (rest[count] === mark) count += 1;
  if (count < 3) return open;
  const info = rest.slice(count);
  if (open === undefined) return mark === "`" && info.includes("`") ? undefined : mark.repeat(count);
  return mark === open[0] && count >= open.length && info.trim() === "" ? undefined : open;
}
