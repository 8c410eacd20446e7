/** An answer in Markdown as it is read out: nobody hears asterisks, addresses of links, or code. */
import { Lexer } from "marked";
import { sayable } from "../twiml/xml.ts";
import { spokenBlocks } from "./blocks.ts";

/** `codeNotice`: said once, in place of all blocks of code. Blank when there is nothing to say. */
export function speakableOf(markdown: string, codeNotice: string): string {
  const lines: string[] = [];
  let isTold = codeNotice.trim() === "";
  for (const block of spokenBlocks(new Lexer({ gfm: true }).lex(sayable(markdown)))) {
    if (block.kind === "text") lines.push(block.text);
    else if (!isTold) {
      lines.push(codeNotice.trim());
      isTold = true;
    }
  }
  return lines.join("\n").trim();
}
