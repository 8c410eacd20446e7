/** An answer in Markdown as it is read out: nobody hears asterisks, addresses of links, or code. */
import { readMarkdown } from "@svc/kit/markdown";
import { sayable } from "../twiml/xml.ts";
import { spokenBlocks } from "./blocks.ts";

/** `codeNotice`: said once, in place of all blocks of code. Blank when there is nothing to say. */
export function speakableOf(markdown: string, codeNotice: string): string {
  const lines: string[] = [];
  let isTold = codeNotice.trim() === "";
  // An entity stands for any character: what can't be said is left out of what was read, too.
  for (const block of spokenBlocks(readMarkdown(sayable(markdown)))) {
    if (block.kind === "text") lines.push(sayable(block.text));
    else if (!isTold) {
      lines.push(codeNotice.trim());
      isTold = true;
    }
  }
  return lines.join("\n").trim();
}
