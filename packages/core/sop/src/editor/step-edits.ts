/**
 * Edits of the steps in SOP.md, one step at a time; every other line stays as it was written. What the result says is read back: an
 * edit that would turn a step's text into an option, a heading or another step is refused.
 */
import { isDeepStrictEqual } from "node:util";
import { SvcError } from "@svc/contract";
import { headingOf, markdownLines, readSteps } from "../library/steps-md.ts";
import type { SopStep } from "../library/types.ts";

/** A step as a form has it. */
export interface StepText {
  readonly title: string;
  readonly body: string;
  readonly kind: SopStep["kind"];
  readonly tools: readonly string[];
  readonly requiresConfirmation: boolean;
  /** As `SopStep.agent`; a form does not change it. */
  readonly agent?: string;
}

/** `step` from 1; one more than there are is a new one at the end. */
export type StepEdit =
  | { readonly step: number; readonly to: StepText }
  | { readonly step: number; readonly remove: true }
  | { readonly step: number; readonly move: number };

/** Throws SOP_INVALID for what can't be said in SOP.md in this way. */
export async function editSteps(markdown: string, edit: StepEdit): Promise<string> {
  const breaks = markdown.includes("\r\n") ? "\r\n" : "\n";
  const lines = markdown.split(/\r\n|\n|\r/);
  const before = await readSteps(markdown);
  if (before.problems.length > 0) throw refused("SOP.md has problems: correct them first");
  const texts: StepText[] = before.steps.map(textOf);
  const blocks = blocksOf(markdown, lines, before.stepLines);
  const { step } = edit;
  const block = blocks.at[step - 1];
  if ("to" in edit) {
    const isNew = step === texts.length + 1;
    if (!block && !isNew) throw refused("there is no such step");
    if (block && hasComment(lines, block)) throw refused("this step has a comment that would be lost");
    texts[step - 1] = { ...trimmed(edit.to), ...agentOf(texts[step - 1]) };
    const made = written(step, texts[step - 1]!);
    if (block) lines.splice(block.start, block.end - block.start, ...made);
    else insert(lines, blocks, made);
  } else if (!block) {
    throw refused("there is no such step");
  } else if ("remove" in edit) {
    texts.splice(step - 1, 1);
    lines.splice(block.start, block.next - block.start);
  } else {
    move(lines, blocks.at, texts, edit);
  }
  const edited = (await renumbered(lines)).join(breaks);
  const after = await readSteps(edited);
  const isAsAsked = after.problems.length === 0 && isDeepStrictEqual(after.steps.map(textOf), texts);
  if (isAsAsked && after.instructions === before.instructions) return edited;
  throw refused("this can't be written as a step of SOP.md by the form");
}

const refused = (why: string): SvcError =>
  new SvcError("SOP_INVALID", `The step was not changed: ${why}.`, { hint: "Edit the source of SOP.md." });

/** Lines from 0. `end`: behind its last line that is not blank; `next`: where the next step, or what follows the steps, begins. */
interface Block {
  readonly start: number;
  readonly end: number;
  readonly next: number;
}

interface Blocks {
  readonly at: readonly Block[];
  /** Line behind the heading of the steps; undefined: there is none. */
  readonly section: number | undefined;
}

function blocksOf(markdown: string, lines: readonly string[], stepLines: readonly number[]): Blocks {
  const parsed = markdownLines(markdown.startsWith("\ufeff") ? markdown.slice(1) : markdown).lines;
  const headings = parsed.flatMap((line) => {
    const heading = headingOf(line);
    return heading && heading.level <= 2 ? [{ ...heading, line: line.line }] : [];
  });
  const section = headings.find(({ level, title }) => level === 2 && /^steps:?$/i.test(title))?.line;
  const sectionEnd =
    (headings.find(({ line }) => section !== undefined && line > section)?.line ?? lines.length + 1) - 1;
  const at = stepLines.map((line, index) => {
    const next = (stepLines[index + 1] ?? sectionEnd + 1) - 1;
    const last = lines.slice(0, next).findLastIndex((text) => text.trim() !== "");
    return { start: line - 1, end: Math.max(last + 1, line), next };
  });
  return { at, section };
}

const hasComment = (lines: readonly string[], { start, end }: Block): boolean =>
  lines.slice(start, end).some((line) => line.includes("<!--"));

function insert(lines: string[], { at, section }: Blocks, made: readonly string[]): void {
  const last = at.at(-1);
  if (last) return void lines.splice(last.end, 0, "", ...made);
  if (section !== undefined) return void lines.splice(section, 0, "", ...made);
  while (lines.at(-1)?.trim() === "") lines.pop();
  lines.push(...(lines.length > 0 ? [""] : []), "## Steps", "", ...made, "");
}

function move(
  lines: string[],
  blocks: readonly Block[],
  texts: StepText[],
  { step, move: to }: Extract<StepEdit, { readonly move: number }>,
): void {
  const [from, target] = [blocks[step - 1]!, blocks[to - 1]];
  if (!target) throw refused("there is no such place");
  const moved = lines.slice(from.start, from.end);
  const [text] = texts.splice(step - 1, 1);
  texts.splice(to - 1, 0, text!);
  if (to > step) {
    lines.splice(target.end, 0, "", ...moved);
    lines.splice(from.start, from.next - from.start);
  } else if (to < step) {
    lines.splice(from.start, from.end - from.start);
    lines.splice(target.start, 0, ...moved, "");
    // The blank lines that stood behind it stand behind the one before now.
    const at = from.start + moved.length + 1;
    if (lines[at]?.trim() === "" && lines[at - 1]?.trim() === "") lines.splice(at, 1);
  }
}

/** Numbers in their order. One with more digits would move the text below it. */
async function renumbered(lines: readonly string[]): Promise<string[]> {
  const { stepLines } = await readSteps(lines.join("\n"));
  const numbers = new Map(stepLines.map((line, index) => [line - 1, String(index + 1)]));
  return lines.map((line, index) => {
    const wanted = numbers.get(index);
    const [, indent, digits, rest] = /^(\s*)(\d+)(.*)$/su.exec(line) ?? [];
    return wanted !== undefined && digits?.length === wanted.length ? `${indent}${wanted}${rest}` : line;
  });
}

function written(number: number, { title, body, kind, tools, requiresConfirmation, agent }: StepText): string[] {
  const indent = " ".repeat(String(number).length + 2);
  const [first = "", ...more] = body.split("\n");
  // A list or a code block begins on a line of its own.
  const isProse = /^[\p{L}\p{N}"'(]/u.test(first) && !/^\d+[.)]/.test(first);
  const rest = isProse ? more : body === "" ? [] : ["", first, ...more];
  return [
    `${number}. **${title}**${isProse ? ` — ${first}` : ""}`,
    ...rest.map((line) => (line === "" ? "" : indent + line)),
    ...(tools.length > 0 ? [`${indent}- tools: ${tools.join(", ")}`] : []),
    ...(agent === undefined ? [] : [`${indent}- agent: ${agent}`]),
    ...(kind === "checkpoint" ? [`${indent}- kind: checkpoint`] : []),
    ...(requiresConfirmation ? [`${indent}- requires_confirmation: true`] : []),
  ];
}

const agentOf = (step: Pick<StepText, "agent"> | undefined) => (step?.agent === undefined ? {} : { agent: step.agent });

const textOf = ({ title, body, kind, tools, requiresConfirmation, agent }: SopStep): StepText => ({
  title,
  body,
  kind,
  tools: [...tools],
  requiresConfirmation,
  ...agentOf({ ...(agent !== undefined && { agent }) }),
});

function trimmed({ title, body, kind, tools, requiresConfirmation }: StepText): StepText {
  const lines = body.split(/\r\n|\n|\r/).map((line) => line.trimEnd());
  while (lines[0] === "") lines.shift();
  while (lines.at(-1) === "") lines.pop();
  return { title: title.trim(), body: lines.join("\n"), kind, tools: [...new Set(tools)], requiresConfirmation };
}
