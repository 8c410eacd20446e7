/**
 * The steps in SOP.md: a numbered list under `## Steps`. An item further in, and all that is code, belongs to the step it
 * stands in; a comment is not there at all. Numbers are the author's: steps are counted in their order.
 */
import { stepHead, type StepHead } from "./step-lines.ts";
import { type Heading, headingOf, type MarkdownLine, markdownLines, type Remark } from "./markdown-lines.ts";
import { isOneLine, LONGEST_TITLE } from "./schema.ts";
import { readOption, type StepOptions } from "./step-options.ts";
import type { SopStep } from "./types.ts";

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
