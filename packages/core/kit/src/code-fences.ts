/** Code blocks between lines of three backticks, as models write them. */

/** Whether every fence in it is of the one form that can be closed and opened again without understanding more. */
export function isPlainlyFenced(text: string): boolean {
  const without = text.replaceAll(PLAIN_FENCE, "");
  return without !== text && !/```|~~~/.test(without);
}

const PLAIN_FENCE = /^```[\w+#.-]{0,20}$/gm;

/** The line that opens the block in which the text ends, with its line break; blank when it ends outside of any. */
export function fenceLeftOpen(text: string): string {
  let open = "";
  for (const [line] of text.matchAll(PLAIN_FENCE)) open = open === "" ? `${line}\n` : "";
  return open;
}
