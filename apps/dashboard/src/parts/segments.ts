/**
 * A long Markdown text in parts that read alone as they read within it. While an answer grows only its last part is read again, and a
 * long one is Markdown to its end: the reader looks at a part's beginning only.
 */

/** So long at least is a part, the last one apart. */
const MIN_CHARS = 2_000;
/** A link may be defined anywhere in the text, and is used in all of it. */
const DEFINITION = /^ {0,3}\[[^\]\n\r\u2028\u2029]{1,999}\]:/m;
const FENCE = /^\s*(?:[-*+>]\s+|\d+[.)]\s+)*(`{3,}|~{3,})/;
/** What goes on behind a blank line: an item, or something that belongs to one, a quote or a table. */
const GOES_ON = /^(?:\s|[-*+>|]|\d+[.)])/;

/** Together they are the text. */
export function segmentsOf(text: string): string[] {
  if (text.length < MIN_CHARS * 2 || DEFINITION.test(text)) return [text];
  const segments: string[] = [];
  let from = 0;
  let fence: string | undefined;
  let isBlankBefore = false;
  for (let at = 0; at < text.length;) {
    const newline = text.indexOf("\n", at);
    const end = newline === -1 ? text.length : newline;
    const line = text.slice(at, end);
    const isOpen = fence !== undefined;
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
  const [head = "", marks] = FENCE.exec(line) ?? [];
  if (marks === undefined) return open;
  const info = line.slice(head.length);
  if (open === undefined) return marks.startsWith("`") && info.includes("`") ? undefined : marks;
  return marks.startsWith(open) && info.trim() === "" ? undefined : open;
}
