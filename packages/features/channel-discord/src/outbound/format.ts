/**
 * Markdown as models write it, as the platform shows it: nearly the same.
 * https://support.discord.com/hc/en-us/articles/210298617
 */
import { trimEndOf } from "@svc/contract";
import { fenceLeftOpen } from "@svc/kit";
import { isTableLine, tableBlock } from "./tables.ts";

/** Counted in UTF-16 units, which is never less than what the platform counts. */
export const TEXT_CHARS = 2_000;

/** Never longer than a message may be, if `text` is not: what has no room for it stays as it was. */
export function formatted(text: string): string {
  const whole = text.toWellFormed();
  const shown = withOwnForms(whole);
  const closing = closingOf(shown);
  for (const form of [shown + closing, whole + closingOf(whole)]) if (form.length <= TEXT_CHARS) return form;
  return whole;
}

/** A block that is still open, in a draft or at a cut, would be shown as its marks. */
const closingOf = (text: string): string => (fenceLeftOpen(text) === "" ? "" : text.endsWith("\n") ? "```" : "\n```");

function withOwnForms(text: string): string {
  const shown: string[] = [];
  let fence: string | undefined;
  let table: string[] = [];
  const endTable = (): void => {
    if (table.length > 0) shown.push(tableBlock(table) ?? table.join("\n"));
    table = [];
  };
  for (const line of text.split("\n")) {
    const mark = /^\s*(```|~~~)/.exec(line)?.[1];
    if (fence === undefined && mark === undefined && isTableLine(line)) {
      table.push(line);
      continue;
    }
    endTable();
    shown.push(fence === undefined && mark === undefined ? lineOf(line) : line);
    if (mark !== undefined) fence = fence === undefined ? mark : fence === mark ? undefined : fence;
  }
  endTable();
  return shown.join("\n");
}

/** Headings of the fourth rank and below, and pictures by a link, are none there. */
const lineOf = (line: string): string =>
  // Neither part may hold what the next one begins with: then each character is looked at once.
  headingOf(line).replaceAll(/!\[([^[\]\n]*)\]\((https?:\/\/[^\s()]+)\)/g, (_, words: string, url: string) =>
    words === "" ? url : `[${words}](${url})`,
  );

/** Without the marks that may close it. */
function headingOf(line: string): string {
  const [marks] = /^#{4,6}\s+(?=\S)/.exec(line) ?? [];
  if (marks === undefined) return line;
  const [first = "", rest = ""] = [line.charAt(marks.length), line.slice(marks.length + 1)];
  const words = `${first}${trimEndOf(rest, "#").trimEnd()}`;
  return words.includes("**") ? words : `**${words}**`;
}
