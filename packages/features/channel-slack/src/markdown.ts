/**
 * An answer in the platform's own markup. Every character of the text is escaped, so that only intended formatting applies and no
 * one is mentioned.
 * https://docs.slack.dev/messaging/formatting-message-text
 */
import type { Json } from "@svc/contract";
import {
  type Block as Meant,
  columnsOf,
  type Inline,
  type Item,
  type Link,
  plainOf,
  readMarkdown,
} from "@svc/kit/markdown";

export const mrkdwnOf = (markdown: string): string => unlessCut(written(blocksOf(markdown)), markdown);

/** A text that is no Markdown, as it is. */
export const plainMrkdwn = (text: string): string => unlessCut(linesText([{ text }]), text);

/** The platform cuts a text here: https://docs.slack.dev/changelog/2018-truncating-really-long-messages */
const MOST_CHARS = 40_000;

/** Shielding marks from formatting makes a text of marks many times longer: drop the shielding rather than lose the end. */
const unlessCut = (written: string, text: string): string => (written.length <= MOST_CHARS ? written : escaped(text));

const linesText = (runs: readonly Run[]): string => linesOf(runs).map(lineOf).map(unquoted).join("\n");

const written = (blocks: readonly Block[]): string =>
  blocks.map((block) => "\n".repeat(block.gap) + blockText(block)).join("");

function blockText(block: Block): string {
  if (block.kind === "rule") return "———";
  if (block.kind === "code") return fenced(block.text);
  if (block.kind === "quote") return quoted(block.blocks);
  return linesText([{ text: block.prefix }, ...block.runs]);
}

/** Three backticks in it would end it. */
const fenced = (text: string): string => `\`\`\`\n${escaped(text.replaceAll("```", "``\u200B`"))}\n\`\`\``;

/** A quote holds lines of text: quotes in it are lines like the others, and code is code line by line. */
function quoted(blocks: readonly Block[]): string {
  const lines = blocks.flatMap((block): string[] => {
    const before = Array.from({ length: Math.max(0, block.gap - 1) }, () => "");
    if (block.kind === "quote")
      return [
        ...before,
        ...quoted(block.blocks)
          .split("\n")
          .map((line) => line.slice(2)),
      ];
    if (block.kind !== "code") return [...before, ...blockText(block).split("\n")];
    return [...before, ...block.text.split("\n").map((text) => lineOf([{ text, code: true }]))];
  });
  return lines.map((line) => `> ${line}`).join("\n");
}

/** Formatting ends with its line: each line's is its own. */
function linesOf(runs: readonly Run[]): Run[][] {
  const lines: Run[][] = [[]];
  for (const run of runs) {
    for (const [index, text] of run.text.split("\n").entries()) {
      if (index > 0) lines.push([]);
      if (text !== "") lines.at(-1)!.push({ ...run, text });
    }
  }
  return lines;
}

/** What begins like a quote, and is none. */
const unquoted = (line: string): string => (/^(?:&gt;|\uFF1E)/.test(line) ? NO_QUOTE + line : line);

/**
 * An answer as a rich text block: for what an edit's text has no room for.
 * https://docs.slack.dev/reference/block-kit/blocks/rich-text-block
 */
export const richTextOf = (markdown: string): Json => ({
  type: "rich_text",
  elements: blocksOf(markdown).flatMap(elementsOf),
});

/** Each element starts on a new line; the rest of the gap becomes empty lines. */
function elementsOf(block: Block): Json[] {
  const before = "\n".repeat(Math.max(0, block.gap - 1));
  const blank: Json[] = before === "" ? [] : [section([{ text: before }])];
  if (block.kind === "rule") return [...blank, section([{ text: "———" }])];
  if (block.kind === "text") return [...blank, section([{ text: block.prefix }, ...block.runs])];
  if (block.kind === "code") {
    return [...blank, { type: "rich_text_preformatted", elements: textElements([{ text: block.text || " " }]) }];
  }
  return [...blank, { type: "rich_text_quote", elements: textElements(quotedRuns(block.blocks)) }];
}

const section = (runs: readonly Run[]): Json => ({ type: "rich_text_section", elements: textElements(runs) });

function quotedRuns(blocks: readonly Block[]): Run[] {
  return blocks.flatMap((block): Run[] => {
    const before: Run = { text: "\n".repeat(block.gap) };
    if (block.kind === "quote") return [before, ...quotedRuns(block.blocks)];
    if (block.kind === "code") return [before, { text: block.text, code: true }];
    return [before, ...(block.kind === "rule" ? [{ text: "———" }] : [{ text: block.prefix }, ...block.runs])];
  });
}

/** No element may be empty. */
const textElements = (runs: readonly Run[]): Json[] =>
  runs
    .filter(({ text }) => text !== "")
    .map(({ text, url, bold, italic, strike, code }) => {
      const style = {
        ...(bold && { bold }),
        ...(italic && { italic }),
        ...(strike && { strike }),
        ...(code && { code }),
      };
      return {
        ...(url === undefined ? { type: "text", text } : { type: "link", url, text }),
        ...(Object.keys(style).length > 0 && { style }),
      };
    });

// Markdown as blocks that the platform has: lists are lines with a mark, tables are columns, headings are bold.

/** Never fails: an answer that is not finished yet is read as if it ended there. */
const blocksOf = (markdown: string): Block[] => readMarkdown(markdown).flatMap((block) => shown(block, 0));

/** `level`: how many lists it is within. */
function shown(block: Meant, level: number): Block[] {
  const gap = Math.min(block.gap, MOST_GAP);
  switch (block.kind) {
    case "paragraph":
      return [textBlock(block.inlines, gap, level)];
    case "heading":
      return [textBlock(block.inlines, gap, level, { bold: true })];
    case "definition":
      return [textBlock([{ kind: "text", text: block.text }], gap, level)];
    case "rule":
      return [{ kind: "rule", gap }];
    case "code":
      // A language name only selects colours, which Slack lacks; keep any other info text, since it is part of the message.
      return [{ kind: "code", gap, text: LANGUAGE.test(block.info) ? block.text : `${block.info}\n${block.text}` }];
    case "table":
      return [{ kind: "code", gap, text: columnsOf(block) }];
    case "quote":
      return [{ kind: "quote", gap, blocks: block.blocks.flatMap((one) => shown(one, 0)) }];
    case "list":
      return block.items.flatMap((item, index) => itemBlocks(item, index === 0 ? gap : item.gap, level));
  }
}

const LANGUAGE = /^[\w+#.-]{0,20}$/;
const ROOM = "    ";

/** All its lines are as far to the right as the text of the item that it belongs to. */
function textBlock(inlines: readonly Inline[], gap: number, level: number, style?: Style): Block {
  const room = level === 0 ? "" : `${ROOM.repeat(level - 1)}   `;
  const runs = runsOf(inlines, style).map((run) => ({ ...run, text: run.text.replaceAll("\n", `\n${room}`) }));
  return { kind: "text", gap, prefix: room, runs };
}

const TASKS = { open: "☐", done: "☑" } as const;

function itemBlocks({ number, task, blocks }: Item, itemGap: number, level: number): Block[] {
  const bullet = task === undefined ? "•" : undefined;
  const mark = [number ?? bullet, task && TASKS[task]].filter((part) => part !== undefined).join(" ");
  const [gap, prefix] = [Math.min(itemGap, MOST_GAP), `${ROOM.repeat(level)}${mark} `];
  const [first, ...others] = blocks.flatMap((block) => shown(block, level + 1));
  const isOnLine = blocks[0]?.kind === "paragraph" || blocks[0]?.kind === "heading";
  if (first?.kind === "text" && isOnLine) return [{ ...first, gap, prefix }, ...others];
  const line: Block = { kind: "text", gap, prefix, runs: [] };
  return first === undefined ? [line] : [line, { ...first, gap: 1 }, ...others];
}

/** Text of one block, as runs. */
function runsOf(inlines: readonly Inline[], style: Style = {}): Run[] {
  const runs: Run[] = [];
  for (const run of inlines.flatMap((inline) => ofOne(inline, style))) add(runs, run);
  return runs;
}

function ofOne(inline: Inline, style: Style): Run[] {
  switch (inline.kind) {
    case "text":
      return [{ ...style, text: inline.text }];
    case "break":
      return [{ ...style, text: "\n" }];
    case "code":
      // Of nothing but spaces people would see nothing.
      return [
        inline.text.trim() === ""
          ? { ...style, text: `\`${inline.text}\`` }
          : { ...style, text: inline.text, code: true },
      ];
    case "link":
      return linkRuns(inline, style);
    default:
      return runsOf(inline.children, { ...style, [inline.kind]: true });
  }
}

/** What leads nowhere, people read. */
function linkRuns({ url, target, children }: Link, style: Style): Run[] {
  if (url === undefined) {
    const label = runsOf(children, style);
    return target === "" || plainOf(children) === target ? label : [...label, { ...style, text: ` (${target})` }];
  }
  const label = plainOf(children).replaceAll(/\s+/g, " ").trim();
  const safe = url.replaceAll(/["`|]/g, encodeURIComponent);
  return [{ ...style, text: label === "" || label === url ? safe : label, url: safe }];
}

/** Neighbours that look the same are one. */
function add(runs: Run[], run: Run): void {
  const last = runs.at(-1);
  const isSame = last !== undefined && !run.code && !run.url && !last.code && !last.url && looks(last) === looks(run);
  if (isSame) runs[runs.length - 1] = { ...last, text: last.text + run.text };
  else runs.push(run);
}

const looks = ({ bold, italic, strike }: Style): string => [bold, italic, strike].join();

/**
 * One line of runs. The platform reads a mark only at the edge of a word, so missing edges are inserted. Marks in the text are
 * escaped where they could be taken for formatting.
 */
export function lineOf(runs: readonly Run[]): string {
  const tokens = opened(spaced(runs));
  const units = tokens.flatMap((token, at): Unit[] =>
    token.kind === "text" ? [...token.text].map((char) => ({ char })) : [{ written: lineWritten(token, tokens, at) }],
  );
  const isRisky = risks(units, tokens);
  const pieces = units.map((unit, at): Piece => {
    if ("written" in unit) return { text: unit.written, isRisky: false };
    return isRisky(unit.char, at) ? { text: unit.char, isRisky: true } : { text: escaped(unit.char), isRisky: false };
  });
  return joined(pieces);
}

/** A character of the text, or something of ours. */
type Unit = { readonly char: string } | { readonly written: string };
/** `isRisky`: marks that must not be read as such. */
interface Piece {
  readonly text: string;
  readonly isRisky: boolean;
}

/** Marks next to each other are one piece, as each has many characters around it; but three backticks would be code. */
function joined(pieces: readonly Piece[]): string {
  let line = "";
  let marks = "";
  const end = (): void => {
    if (marks !== "") line += literalMarks(marks);
    marks = "";
  };
  for (const { text, isRisky } of pieces) {
    if (!isRisky || (marks.endsWith("``") && text === "`")) end();
    if (isRisky) marks += text;
    else line += text;
  }
  end();
  return line;
}

function lineWritten(token: Exclude<Token, { kind: "text" }>, tokens: readonly Token[], at: number): string {
  const [before, behind] = [edge(tokens[at - 1]), edge(tokens[at + 1], true)];
  if (token.kind === "link") return linkOf(token.url, token.label);
  if (token.kind === "code") return `${before}\`${codeOf(token.text)}\`${behind}`;
  return token.opens ? before + token.mark : token.mark + behind;
}

type Token =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "code"; readonly text: string }
  | { readonly kind: "link"; readonly url: string; readonly label: string }
  | { readonly kind: "mark"; readonly mark: Mark; readonly opens: boolean };

const STYLES = [
  ["bold", "*"],
  ["italic", "_"],
  ["strike", "~"],
] as const satisfies readonly (readonly [keyof Style, Mark])[];

/** White space at an edge of a style would keep the mark from being read: it has the styles of both its neighbours only. */
function spaced(runs: readonly Run[]): Run[] {
  const pieces = runs.flatMap((run): Run[] => {
    if (run.url !== undefined) return [run];
    const rest = run.text.trimStart();
    const inner = rest.trimEnd();
    const [before, after] = [run.text.slice(0, run.text.length - rest.length), rest.slice(inner.length)];
    const blank = (text: string): Run[] => (text === "" ? [] : [{ text }]);
    return [...blank(before), ...(inner === "" ? [] : [{ ...run, text: inner }]), ...blank(after)];
  });
  const lefts = lastShown(pieces);
  const rights = lastShown(pieces.toReversed()).toReversed();
  return pieces.map((piece, at) => {
    if (!isBlank(piece)) return piece;
    const shared = STYLES.filter(([style]) => lefts[at]?.[style] && rights[at]?.[style]);
    return { text: piece.text, ...Object.fromEntries(shared.map(([style]) => [style, true])) };
  });
}

/** Of each run the last one up to it that is not blank. */
function lastShown(runs: readonly Run[]): (Run | undefined)[] {
  let last: Run | undefined;
  return runs.map((run) => (isBlank(run) ? last : (last = run)));
}

const isBlank = ({ text, url }: Run): boolean => url === undefined && text.trim() === "";

/** Marks around what they are of, one inside of the other. */
function opened(runs: readonly Run[]): Token[] {
  const tokens: Token[] = [];
  const open: Mark[] = [];
  const close = (wanted: readonly Mark[]): void => {
    const keep = open.findIndex((mark) => !wanted.includes(mark));
    for (const mark of open.splice(keep === -1 ? open.length : keep).toReversed()) {
      tokens.push({ kind: "mark", mark, opens: false });
    }
  };
  for (const run of runs) {
    const wanted = STYLES.filter(([style]) => run[style]).map(([, mark]) => mark);
    close(wanted);
    // Before white space nothing opens.
    for (const mark of isBlank(run) ? [] : wanted.filter((one) => !open.includes(one))) {
      open.push(mark);
      tokens.push({ kind: "mark", mark, opens: true });
    }
    if (run.url !== undefined) tokens.push({ kind: "link", url: run.url, label: run.text });
    else tokens.push({ kind: run.code ? "code" : "text", text: run.text });
  }
  close([]);
  return tokens;
}

/** What stands between a mark and its neighbour on the outside; nothing at the end of the line, or where a word ends anyway. */
function edge(neighbour: Token | undefined, isBehind: boolean = false): string {
  if (neighbour === undefined) return "";
  if (neighbour.kind !== "text") return neighbour.kind === "mark" && neighbour.opens !== isBehind ? "" : WORD_END;
  return /\s/.test((isBehind ? neighbour.text[0] : neighbour.text.at(-1)) ?? " ") ? "" : WORD_END;
}

/** A backtick would end it. */
const codeOf = (text: string): string => escaped(text.replaceAll("`", "ˋ"));

function linkOf(url: string, label: string): string {
  const shown = label.trim();
  if (shown === "" || shown === url) return `<${escaped(url)}>`;
  const chars = [...shown].map((char, at, all) => (char === "`" || isAtEdge(all, at) ? lookAlike(char) : char));
  return `<${escaped(url)}|${escaped(chars.join(""))}>`;
}

/** Which marks of the text the platform could take for formatting: those at an edge of a word, where there are two to pair. */
function risks(units: readonly Unit[], tokens: readonly Token[]): (char: string, at: number) => boolean {
  // Our own tokens end a word on either side.
  const chars = units.map((unit) => ("char" in unit ? unit.char : "|"));
  const risky = new Set(MARKS.filter((mark) => tokens.some((token) => isOurs(token, mark)) || canPair(chars, mark)));
  return (char, at) => risky.has(char as Mark) && (char === "`" || isAtEdge(chars, at));
}

const isOurs = (token: Token, mark: Mark): boolean =>
  token.kind === "mark" ? token.mark === mark : token.kind === "code" && mark === "`";

function canPair(chars: readonly string[], mark: Mark): boolean {
  if (mark === "`") return chars.indexOf(mark) !== chars.lastIndexOf(mark);
  const opens = chars.findIndex((char, at) => char === mark && canOpen(chars, at));
  const closes = chars.findLastIndex((char, at) => char === mark && canClose(chars, at));
  return opens !== -1 && opens < closes;
}

const isAtEdge = (chars: readonly string[], at: number): boolean => canOpen(chars, at) || canClose(chars, at);
const canOpen = (chars: readonly string[], at: number): boolean => !isWordy(chars[at - 1]) && !isSpace(chars[at + 1]);
const canClose = (chars: readonly string[], at: number): boolean => !isSpace(chars[at - 1]) && !isWordy(chars[at + 1]);

const isWordy = (char: string | undefined): boolean => char !== undefined && /[\p{L}\p{N}]/u.test(char);
const isSpace = (char: string | undefined): boolean => char === undefined || /\s/.test(char);

// Text that the platform must show as it is.
// https://docs.slack.dev/messaging/formatting-message-text#escaping

/** The three characters with a meaning of their own: without them there is no link and no mention. */
export const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** The reverse, for what comes in. */
export const unescaped = (text: string): string =>
  text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");

/** Marks of formatting, for which the platform has no escape. */
const MARKS = ["*", "_", "~", "`"] as const;
type Mark = (typeof MARKS)[number];

/**
 * Marks that format nothing. A date that is none is shown as the text that stands in for it, and that is not formatted; any
 * other way would show another character or none.
 */
const literalMarks = (marks: string): string => `<!date^00000000^{_}|${marks}>`;

/** Where no token is read, inside of a link's label: a character that looks the same. */
const lookAlike = (text: string): string => text.replaceAll(/[*_~`]/g, (mark) => LOOK_ALIKES[mark as Mark]);

const LOOK_ALIKES: Readonly<Record<Mark, string>> = { "*": "∗", _: "ˍ", "~": "∼", "`": "ˋ" };

/** Ends a word where the platform needs one to end, and is not seen. */
const WORD_END = "\u200B";

/** Takes a quote's mark its meaning at the beginning of a line. */
const NO_QUOTE = "\u00AD";

/** An answer as it is understood: blocks one below the other, and in them runs of text of one style each. */
interface Style {
  readonly bold?: true;
  readonly italic?: true;
  readonly strike?: true;
  readonly code?: true;
}

/** A piece of text that looks the same from its beginning to its end; a line break is a `\n` in it. */
export interface Run extends Style {
  readonly text: string;
  /** Where it leads; `http`, `https`, `mailto` or `tel`. */
  readonly url?: string;
}

type Block =
  /** `prefix`: what stands before it, the indentation and the mark of a list's item. */
  | { readonly kind: "text"; readonly gap: number; readonly prefix: string; readonly runs: readonly Run[] }
  | { readonly kind: "code"; readonly gap: number; readonly text: string }
  | { readonly kind: "quote"; readonly gap: number; readonly blocks: readonly Block[] }
  | { readonly kind: "rule"; readonly gap: number };

/** `gap` of a block: line breaks between it and the one before; 0 for the first. */
const MOST_GAP = 3;
