/** A text with its formatting; plain where the platform would not take it so. */
import { BadFormatting } from "../api/special-refusals.ts";
import { formatMarkdown } from "../format/markdown.ts";

export interface Words {
  readonly text: string;
  readonly parse_mode?: "HTML";
}

/** Both after the formatting was read, in UTF-16 units. https://core.telegram.org/bots/api#sendmessage */
export const TEXT_CHARS = 4096;
export const CAPTION_CHARS = 1024;

/** `maxChars`: a table takes more room in columns than as it is written. */
export function wordsOf(markdown: string, maxChars: number): Words {
  const { html, text } = formatMarkdown(markdown.toWellFormed());
  const isSound = text.trim() !== "" && text.length <= maxChars;
  return isSound ? { text: html, parse_mode: "HTML" } : plain(markdown);
}

/** `send` is called once more, with the bare text, when the platform could not read the formatting. */
export async function formatted<T>(markdown: string, maxChars: number, send: (words: Words) => Promise<T>): Promise<T> {
  try {
    return await send(wordsOf(markdown, maxChars));
  } catch (error) {
    if (!(error instanceof BadFormatting)) throw error;
    return send(plain(markdown));
  }
}

/** A draft may end in the middle of a character, which the platform would refuse. */
const plain = (text: string): Words => ({ text: text.toWellFormed() });

/** It would show, and fetch, whatever page an answer names. https://core.telegram.org/bots/api#linkpreviewoptions */
export const NO_PREVIEW = { link_preview_options: { is_disabled: true } } as const;
