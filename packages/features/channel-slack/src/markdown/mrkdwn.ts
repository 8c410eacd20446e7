/**
 * An answer in the platform's own markup. Every character of the text is escaped where it stands, so that what is formatted is
 * what was meant, and nobody is mentioned.
 * https://docs.slack.dev/messaging/formatting-message-text
 */
import { blocksOf } from "./blocks.ts";
import { escaped, NO_QUOTE } from "./escape.ts";
import { lineOf } from "./mrkdwn-line.ts";
import type { Block, Run } from "./types.ts";

export const mrkdwnOf = (markdown: string): string => unlessCut(written(blocksOf(markdown)), markdown);

/** A text that is no Markdown, as it is. */
export const plainMrkdwn = (text: string): string => unlessCut(linesText([{ text }]), text);

/** The platform cuts a text here: https://docs.slack.dev/changelog/2018-truncating-really-long-messages */
const MOST_CHARS = 40_000;

/** What is nothing but marks has many characters for each: rather than lose its end, it is left to be formatted. */
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
