/** The words of a message with headings, tables and the like, whatever kinds of blocks there are. https://core.telegram.org/bots/api#richmessage */
import type { Json } from "@svc/contract";
import { fieldsOf, listOf, textOf } from "../fields.ts";

export const richText = (message: Json | undefined): string | undefined =>
  linesOf(fieldsOf(message)["blocks"]).join("\n") || undefined;

/** The platform nests sixteen levels. */
const MAX_DEPTH = 20;

function linesOf(blocks: Json | undefined, depth = 0): string[] {
  if (depth > MAX_DEPTH) return [];
  return listOf(blocks).flatMap((block) => {
    const { summary, text, expression, blocks: inner, items, cells, caption } = fieldsOf(block);
    const rows = listOf(cells).map((row) =>
      listOf(row)
        .map((cell) => wordsOf(fieldsOf(cell)["text"]))
        .join(" | "),
    );
    return [
      wordsOf(summary),
      wordsOf(text),
      textOf(expression) ?? "",
      ...linesOf(inner, depth + 1),
      ...linesOf(items, depth + 1),
      ...rows,
      wordsOf(caption),
    ].filter((line) => line.trim() !== "");
  });
}

/** Of one line: a text, or texts and formatted texts one after the other. */
function wordsOf(text: Json | undefined, depth = 0): string {
  if (depth > MAX_DEPTH) return "";
  if (typeof text === "string") return text;
  if (Array.isArray(text)) return (text as Json[]).map((part) => wordsOf(part, depth + 1)).join("");
  const { text: inner, alternative_text: emoji, expression } = fieldsOf(text);
  return inner === undefined ? (textOf(emoji) ?? textOf(expression) ?? "") : wordsOf(inner, depth + 1);
}
