/**
 * The steps in SOP.md: a numbered list under `## Steps`. An item further in, and all that is code, belongs to the step it
 * stands in; a comment is not there at all. Numbers are the author's: steps are counted in their order.
 */
import { CHILD_AGENT, LONGEST_TITLE, STEP_KINDS, isOneLine } from "./schema.ts";
import type { SopStep } from "./types.ts";
import { TOOL_NAME } from "@svc/contract";
import { nearest } from "@svc/config";

export interface ReadSteps {
  readonly steps: readonly SopStep[];
  /** Where each of them begins, from 1. */
  readonly stepLines: readonly number[];
  /** `## Steps` is there. */
  readonly hasSection: boolean;
  /** What stands outside of it, and before its first step. */
  readonly instructions: string;
  readonly problems: readonly Remark[];
  readonly warnings: readonly Remark[];
}

export async function readSteps(markdown: string): Promise<ReadSteps> {
  const { lines, problems } = markdownLines(markdown.startsWith("\ufeff") ? markdown.slice(1) : markdown);
  const found = new Found();
  for (const line of lines) await found.take(line);
  const said = [...problems, ...found.problems].toSorted((a, b) => a.line - b.line);
  return {
    steps: found.steps.map(finished),
    stepLines: found.steps.map(({ line }) => line),
    hasSection: found.sections > 0,
    instructions: trimmed(found.instructions),
    problems: said,
    warnings: [...found.warnings, ...misnumbered(found.steps)],
  };
}

interface OpenStep {
  readonly head: StepHead;
  readonly line: number;
  readonly indent: number;
  readonly body: string[];
  readonly options: StepOptions;
}

class Found {
  readonly steps: OpenStep[] = [];
  readonly instructions: string[] = [];
  readonly problems: Remark[] = [];
  readonly warnings: Remark[] = [];
  sections = 0;
  #inSteps = false;

  async take(line: MarkdownLine): Promise<void> {
    const heading = headingOf(line);
    if (heading && heading.level <= 2) return this.#heading(heading, line);
    const step = this.steps.at(-1);
    const head = this.#inSteps ? stepHead(line) : undefined;
    if (head && (!step || line.indent < step.indent + 2)) return this.#begin(head, line);
    if (!this.#inSteps || !step) return void this.instructions.push(line.text);
    if (await readOption(step.options, line, this)) return;
    step.body.push(line.text.slice(Math.min(line.indent, step.head.offset)));
  }

  #heading({ level, title }: Heading, { line, text, indent }: MarkdownLine): void {
    this.#inSteps = level === 2 && /^steps:?$/i.test(title);
    if (!this.#inSteps) return void this.instructions.push(text);
    this.sections += 1;
    if (this.sections > 1) this.problems.push({ line, column: indent + 1, message: "there are steps above already" });
  }

  #begin(head: StepHead, { line, indent }: MarkdownLine): void {
    const fault = titleFault(head.title);
    if (fault !== undefined) this.problems.push({ line, column: indent + 1, message: fault });
    this.steps.push({ head, line, indent, body: [head.body], options: { tools: [] } });
  }
}

function titleFault(title: string): string | undefined {
  if (title === "") return "this step has no title";
  if (title.length > LONGEST_TITLE) return `a title has at most ${LONGEST_TITLE} characters`;
  return isOneLine(title) ? undefined : "a title has no control characters";
}

function finished({ head, body, options }: OpenStep, index: number): SopStep {
  return {
    number: index + 1,
    title: head.title,
    body: trimmed(body),
    kind: options.kind ?? "execute",
    requiresConfirmation: options.requiresConfirmation ?? false,
    tools: [...new Set(options.tools)],
    ...(options.agent !== undefined && { agent: options.agent }),
  };
}

/** Without blank lines around it. */
function trimmed(lines: readonly string[]): string {
  const texts = lines.map((line) => line.trimEnd());
  const first = texts.findIndex((text) => text !== "");
  const last = texts.findLastIndex((text) => text !== "");
  return first < 0 ? "" : texts.slice(first, last + 1).join("\n");
}

/** To number all of them 1 is common in Markdown. */
function misnumbered(steps: readonly OpenStep[]): Remark[] {
  if (steps.every(({ head }) => head.number === 1)) return [];
  const index = steps.findIndex(({ head }, at) => head.number !== at + 1);
  const wrong = steps[index];
  if (!wrong) return [];
  const message = `this is step ${index + 1}: steps are counted in their order, not by their numbers`;
  return [{ line: wrong.line, column: wrong.indent + 1, message }];
}

/** The bullets below a step that say how it is done: `tools:`, `requires_confirmation:`, `kind:`, `agent:`. */
interface StepOptions {
  tools: string[];
  kind?: (typeof STEP_KINDS)[number];
  requiresConfirmation?: boolean;
  agent?: string;
  /** Of the first bullet: only those that stand like it are options, what is further in is text. */
  indent?: number;
  /** `tools:` stood alone: the bullets further in than this are its list. */
  toolsBelow?: number | undefined;
  seen?: Set<string>;
}

interface Said {
  readonly problems: Remark[];
  readonly warnings: Remark[];
}

/** Whether the line was one; all others are the step's text. */
async function readOption(options: StepOptions, line: MarkdownLine, said: Said): Promise<boolean> {
  const bullet = bulletOf(line);
  if (options.toolsBelow !== undefined && line.text.trim() !== "") {
    if (bullet && bullet.indent > options.toolsBelow) return addTools(options, bullet.text, line, said);
    options.toolsBelow = undefined;
  }
  if (!bullet) return false;
  options.indent ??= bullet.indent;
  const option = bullet.indent < options.indent + 2 ? optionOf(bullet.text) : undefined;
  if (!option) return false;
  if (!KEYS.includes(option.key)) return unknown(option, line, said);
  options.seen ??= new Set();
  if (options.seen.has(option.key)) addRemark(said.problems, line, "this step has it already");
  options.seen.add(option.key);
  return READ[option.key]!(options, option.value, line, said);
}

type ReadValue = (options: StepOptions, value: string, line: MarkdownLine, said: Said) => boolean | Promise<boolean>;

const READ: Readonly<Record<string, ReadValue>> = {
  tools(options, value, line, said) {
    if (value !== "") return addTools(options, value, line, said);
    options.toolsBelow = line.indent;
    return true;
  },
  async kind(options, value, line, said) {
    const kind = STEP_KINDS.find((one) => one === value.toLowerCase());
    if (kind) options.kind = kind;
    else await wrong("must be one of the values allowed", value, STEP_KINDS, line, said);
    return true;
  },
  agent(options, value, line, said) {
    if (CHILD_AGENT.test(value)) options.agent = value;
    else addRemark(said.problems, line, "must be svc, or a name of agents_pool.programs");
    return true;
  },
  requires_confirmation(options, value, line, said) {
    const word = value.toLowerCase();
    if (word === "true" || word === "yes") options.requiresConfirmation = true;
    else if (word === "false" || word === "no") options.requiresConfirmation = false;
    else addRemark(said.problems, line, "must be true or false");
    return true;
  },
};

const KEYS = Object.keys(READ);
const GATE = "requires_confirmation";

function addTools(options: StepOptions, value: string, line: MarkdownLine, said: Said): boolean {
  const names = listOf(value);
  for (const name of names) options.tools.push(name);
  if (!names.every((name) => TOOL_NAME.test(name))) {
    addRemark(said.problems, line, "must be names of tools with commas between: a-z, then a-z 0-9 _, at most 64");
  }
  if (value.endsWith(","))
    addRemark(said.problems, line, "a list of tools stands on one line, or as bullets further in");
  return true;
}

/**
 * A bullet that only looks like an option is text for the model. One that asks for a person must not be: a slip of the pen
 * would take a gate away.
 */
async function unknown({ key, value }: Option, line: MarkdownLine, said: Said): Promise<boolean> {
  const didYouMean = await nearest(key, KEYS);
  const asks = /confirm|approv/.test(key) && /^(?:true|false|yes|no)$/i.test(value);
  if (asks || didYouMean === GATE) {
    addRemark(said.problems, line, "this is no option", { didYouMean: GATE });
    return true;
  }
  if (didYouMean !== undefined) addRemark(said.warnings, line, "this is no option and is read as text", { didYouMean });
  return false;
}

async function wrong(message: string, value: string, among: readonly string[], line: MarkdownLine, said: Said) {
  const didYouMean = await nearest(value, among);
  addRemark(said.problems, line, message, {
    allowed: among.join(", "),
    ...(didYouMean !== undefined && { didYouMean }),
  });
}

function addRemark(list: Remark[], { line, indent }: MarkdownLine, message: string, rest: Partial<Remark> = {}): void {
  list.push({ line, column: indent + 1, message, ...rest });
}

/** The two kinds of lines that say something of a step: its first one, and its options. */
interface StepHead {
  /** As written. */
  readonly number: number;
  /** Where its text begins: what stands further in belongs to it. */
  readonly offset: number;
  readonly title: string;
  readonly body: string;
}

/** `1. **Title** — body`, or `1. Title`. */
export function stepHead({ text, indent, isCode }: MarkdownLine): StepHead | undefined {
  if (isCode) return undefined;
  let end = indent;
  while (end - indent < 10 && /^[0-9]$/.test(text[end] ?? "")) end += 1;
  const digits = text.slice(indent, end);
  const isMark = text[end] === "." || text[end] === ")";
  if (digits === "" || digits.length > 9 || !isMark || (text[end + 1] ?? " ") !== " ") return undefined;
  return { number: Number(digits), offset: end + 2, ...titled(text.slice(end + 1).trim()) };
}

/** Of a line without bold, whose text is the title too. */
const LONGEST_PLAIN_TITLE = 120;

/** Text that does not begin in bold is a title as a whole: a dash in it may be part of it. */
function titled(text: string): { readonly title: string; readonly body: string } {
  const mark = ["**", "__"].find((one) => text.startsWith(one));
  const end = mark === undefined ? -1 : text.indexOf(mark, 2);
  if (mark === undefined || end < 0) return plainly(text);
  // The colon may stand inside of the bold too.
  const title = text.slice(2, end).trim();
  return {
    title: title.endsWith(":") ? title.slice(0, -1).trim() : title,
    body: afterDash(text.slice(end + 2).trim()),
  };
}

function plainly(text: string): { readonly title: string; readonly body: string } {
  if (text.length <= LONGEST_PLAIN_TITLE) return { title: text, body: "" };
  const cut = text.slice(0, LONGEST_PLAIN_TITLE);
  return { title: `${cut.slice(0, Math.max(cut.lastIndexOf(" "), 80)).toWellFormed()}…`, body: text };
}

function afterDash(text: string): string {
  if (/^[—–:]/.test(text)) return text.slice(1).trim();
  // A hyphen that stands at a word belongs to it: `-5 degrees`.
  const hyphens = /^-{1,3}(?=\s|$)/.exec(text)?.[0];
  return hyphens === undefined ? text : text.slice(hyphens.length).trim();
}

interface Bullet {
  readonly indent: number;
  readonly text: string;
}

export function bulletOf({ text, indent, isCode }: MarkdownLine): Bullet | undefined {
  if (isCode || !/^[-*+]$/.test(text[indent] ?? "") || (text[indent + 1] ?? " ") !== " ") return undefined;
  return { indent, text: text.slice(indent + 1).trim() };
}

interface Option {
  /** Lower case, words joined by `_`. */
  readonly key: string;
  readonly value: string;
}

/** `key: value` of a bullet. */
export function optionOf(text: string): Option | undefined {
  const colon = text.slice(0, 64).indexOf(":");
  if (colon < 1) return undefined;
  const key = plain(text.slice(0, colon)).toLowerCase().replace(/[\s-]/g, "_");
  // The bold may end behind the colon.
  return /^[a-z_]+$/.test(key)
    ? {
        key,
        value: text
          .slice(colon + 1)
          .replace(/^\*\*/, "")
          .trim(),
      }
    : undefined;
}

/** `tools: a, b`, also as code or in brackets. */
export const listOf = (value: string): string[] =>
  (value.startsWith("[") && value.endsWith("]") ? value.slice(1, -1) : value)
    .split(",")
    .map((item) => plain(item))
    .filter((item) => item !== "");

/** Without the marks of bold, code and quotes around it. */
const plain = (text: string): string => text.replace(/[*`"']/g, "").trim();

/** The lines of SOP.md: which are text, which are code, and which are comments that nobody but the author reads. */
interface MarkdownLine {
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

interface Heading {
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
