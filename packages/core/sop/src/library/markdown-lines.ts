/** The lines of SOP.md: which are text, which are code, and which are comments that nobody but the author reads. */

export interface MarkdownLine {
  /** From 1. */
  readonly line: number;
  /** Without its line break; tabs in front are four blanks. */
  readonly text: string;
  /** Blanks in front. */
  readonly indent: number;
  /** Inside a fenced block, or its fence. */
  readonly isCode: boolean;
}

/** A remark on the text; `line` and `column` from 1. */
export interface Remark {
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly allowed?: string;
  readonly didYouMean?: string;
}

/** Comments are left out. What is opened and not closed would swallow the steps after it: it is told. */
export function markdownLines(text: string): { readonly lines: MarkdownLine[]; readonly problems: Remark[] } {
  const lines: MarkdownLine[] = [];
  let open: { readonly kind: "code" | "comment"; readonly mark: string; readonly at: Remark } | undefined;
  for (const [index, written] of text.split(/\r\n|\n|\r/).entries()) {
    const { content, indent } = indented(written);
    const line = { line: index + 1, text: content, indent };
    const bare = content.trim();
    if (open?.kind === "comment") {
      if (bare.includes("-->")) open = undefined;
      continue;
    }
    if (open) {
      lines.push({ ...line, isCode: true });
      if (closes(bare, open.mark)) open = undefined;
      continue;
    }
    const at = { line: index + 1, column: indent + 1, message: "" };
    const mark = fenceOf(bare);
    if (mark !== undefined) open = { kind: "code", mark, at };
    else if (bare.startsWith("<!--")) {
      if (!bare.includes("-->", 4)) open = { kind: "comment", mark: "", at };
      continue;
    }
    lines.push({ ...line, isCode: mark !== undefined });
  }
  if (!open) return { lines, problems: [] };
  const message = open.kind === "code" ? "this code block is not closed" : "this comment is not closed by -->";
  return { lines, problems: [{ ...open.at, message }] };
}

function indented(written: string): { readonly content: string; readonly indent: number } {
  let indent = 0;
  let at = 0;
  for (; written[at] === " " || written[at] === "\t"; at += 1) indent += written[at] === "\t" ? 4 - (indent % 4) : 1;
  return { content: " ".repeat(indent) + written.slice(at), indent };
}

/** The backticks or tildes that open a block. */
function fenceOf(bare: string): string | undefined {
  const mark = runOf(bare, bare[0] ?? "");
  if (mark.length < 3 || !"`~".includes(mark[0]!)) return undefined;
  return mark[0] === "`" && bare.includes("`", mark.length) ? undefined : mark;
}

const closes = (bare: string, mark: string): boolean =>
  bare.length >= mark.length && runOf(bare, mark[0]!) === bare && bare !== "";

/** How often the text begins with this character. */
function runOf(text: string, character: string): string {
  if (character === "") return "";
  let end = 0;
  while (text[end] === character) end += 1;
  return text.slice(0, end);
}

export interface Heading {
  readonly level: number;
  readonly title: string;
}

/** `## Title`, with or without `#` behind. */
export function headingOf({ text, isCode, indent }: MarkdownLine): Heading | undefined {
  const bare = text.trim();
  const level = runOf(bare, "#").length;
  if (isCode || indent > 3 || level === 0 || level > 6 || (bare.length > level && !/\s/.test(bare[level]!)))
    return undefined;
  let end = bare.length;
  while (end > level && bare[end - 1] === "#") end -= 1;
  return { level, title: bare.slice(level, end).trim() };
}
