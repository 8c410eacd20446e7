/** A tool call as people are shown it: without secrets, bounded, and a file's change as its lines. */
import { diff } from "node:util";
import type { FileChange, Json } from "@svc/contract";
import { cut, oneLine, shortened, wellFormed } from "./plain-text.ts";
import type { ShownChange, ToolCallDetail } from "./types.ts";

export interface DetailedQuestion {
  readonly tool: string;
  readonly agent: string;
  readonly reason: string;
  readonly input: Json;
  readonly command?: string;
  readonly folder?: string;
  readonly change?: FileChange;
}

type Redact = (text: string) => string;

const MAX = { command: 16_384, input: 8_192, summary: 300, path: 1_024 } as const;

export function detailOf(question: DetailedQuestion, redact: Redact): ToolCallDetail {
  const { tool, agent, reason, input, command, folder, change } = question;
  const told = new Set<unknown>([command, folder, change?.path, change?.mode, change?.written]);
  const rest = isObject(input) ? Object.entries(input).filter(([, value]) => !told.has(value)) : [];
  const shown = command === undefined && change === undefined ? input : Object.fromEntries(rest);
  const hasInput = !isObject(shown) || Object.keys(shown).length > 0;
  return {
    tool,
    agent,
    reason: redact(reason),
    summary: cut(oneLine(redact(summaryOf(question))), MAX.summary),
    ...(command !== undefined && { command: shortened(wellFormed(redact(command)), MAX.command) }),
    ...(folder !== undefined && folder !== "." && { folder: cut(wellFormed(redact(folder)), MAX.path) }),
    ...(change && { change: shownChange(change, redact) }),
    ...(hasInput && { input: shortened(wellFormed(redact(JSON.stringify(shown, null, 2))), MAX.input) }),
  };
}

function summaryOf({ tool, command, folder, change, input }: DetailedQuestion): string {
  if (command !== undefined) return folder === undefined || folder === "." ? command : `${command} (in ${folder})`;
  if (change) return `${change.mode} ${change.path}, ${Buffer.byteLength(change.written)} bytes`;
  return `${tool} ${JSON.stringify(input)}`;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** More lines are not compared: the time grows with their product. */
const MAX_COMPARED = 1_000;
const MAX_SHOWN = 400;
const MAX_LINE_CHARS = 1_000;
/** Lines that stay, beside each that does not. */
const CONTEXT = 3;

function shownChange({ path, mode, before, written }: FileChange, redact: Redact): ShownChange {
  const old = before.kind === "text" && mode === "replace" ? linesOf(redact(before.text)) : [];
  const all = compared(old, linesOf(redact(written)));
  const folded = withoutFar(all);
  const lines = folded.slice(0, MAX_SHOWN).map((line) => cut(line, MAX_LINE_CHARS));
  const count = (mark: string): number => all.filter((line) => line.startsWith(mark)).length;
  return {
    path: cut(wellFormed(redact(path)), MAX.path),
    mode,
    before: before.kind,
    lines,
    added: count("+"),
    removed: count("-"),
    cut: folded.length - lines.length,
  };
}

/** Without the empty one behind the last line break. */
function linesOf(text: string): string[] {
  const lines = wellFormed(text).split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** What both begin and end with is no work. */
function compared(before: readonly string[], after: readonly string[]): string[] {
  const least = Math.min(before.length, after.length);
  let head = 0;
  while (head < least && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < least - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const stays = (lines: readonly string[]): string[] => lines.map((line) => ` ${line}`);
  return [
    ...stays(before.slice(0, head)),
    ...changedLines(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...stays(before.slice(before.length - tail)),
  ];
}

function changedLines(before: readonly string[], after: readonly string[]): string[] {
  const isMuch = before.length > MAX_COMPARED || after.length > MAX_COMPARED;
  if (isMuch || before.length === 0 || after.length === 0) {
    return [...before.map((line) => `-${line}`), ...after.map((line) => `+${line}`)];
  }
  // 1: only in its first list; -1: only in its second.
  return diff(before, after).map(([way, line]) => `${way === 0 ? " " : way === 1 ? "-" : "+"}${line}`);
}

/** Lines that stay, far from any that does not, become one `@`. */
function withoutFar(lines: readonly string[]): string[] {
  const isNear = new Uint8Array(lines.length);
  for (const [index, line] of lines.entries()) {
    if (line.startsWith(" ")) continue;
    isNear.fill(1, Math.max(0, index - CONTEXT), index + CONTEXT + 1);
  }
  return lines.flatMap((line, index) => {
    if (isNear[index] === 1) return [line];
    return index === 0 || isNear[index - 1] === 1 ? ["@"] : [];
  });
}
