/** The bullets below a step that say how it is done: `tools:`, `requires_confirmation:`, `kind:`, `agent:`. */
import { nearest, TOOL_NAME } from "@svc/kernel";
import { CHILD_AGENT, STEP_KINDS } from "./schema.ts";
import type { MarkdownLine, Remark } from "./markdown-lines.ts";
import { bulletOf, listOf, type Option, optionOf } from "./step-lines.ts";

export interface StepOptions {
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
export async function readOption(options: StepOptions, line: MarkdownLine, said: Said): Promise<boolean> {
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
  if (options.seen.has(option.key)) told(said.problems, line, "this step has it already");
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
    else told(said.problems, line, "must be svc, or a name of agents_pool.programs");
    return true;
  },
  requires_confirmation(options, value, line, said) {
    const word = value.toLowerCase();
    if (word === "true" || word === "yes") options.requiresConfirmation = true;
    else if (word === "false" || word === "no") options.requiresConfirmation = false;
    else told(said.problems, line, "must be true or false");
    return true;
  },
};

const KEYS = Object.keys(READ);
const GATE = "requires_confirmation";

function addTools(options: StepOptions, value: string, line: MarkdownLine, said: Said): boolean {
  const names = listOf(value);
  for (const name of names) options.tools.push(name);
  if (!names.every((name) => TOOL_NAME.test(name))) {
    told(said.problems, line, "must be names of tools with commas between: a-z, then a-z 0-9 _, at most 64");
  }
  if (value.endsWith(",")) told(said.problems, line, "a list of tools stands on one line, or as bullets further in");
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
    told(said.problems, line, "this is no option", { didYouMean: GATE });
    return true;
  }
  if (didYouMean !== undefined) told(said.warnings, line, "this is no option and is read as text", { didYouMean });
  return false;
}

async function wrong(message: string, value: string, among: readonly string[], line: MarkdownLine, said: Said) {
  const didYouMean = await nearest(value, among);
  told(said.problems, line, message, { allowed: among.join(", "), ...(didYouMean !== undefined && { didYouMean }) });
}

function told(list: Remark[], { line, indent }: MarkdownLine, message: string, rest: Partial<Remark> = {}): void {
  list.push({ line, column: indent + 1, message, ...rest });
}
