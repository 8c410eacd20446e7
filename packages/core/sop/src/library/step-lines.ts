/** The two kinds of lines that say something of a step: its first one, and its options. */
import type { MarkdownLine } from "./markdown-lines.ts";

export interface StepHead {
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

export interface Bullet {
  readonly indent: number;
  readonly text: string;
}

export function bulletOf({ text, indent, isCode }: MarkdownLine): Bullet | undefined {
  if (isCode || !/^[-*+]$/.test(text[indent] ?? "") || (text[indent + 1] ?? " ") !== " ") return undefined;
  return { indent, text: text.slice(indent + 1).trim() };
}

export interface Option {
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
