/** A text from standard input, to its end. */
import { SvcError } from "@svc/contract";

/** Throws USAGE for more than `maxChars`, and for what is no UTF-8. */
export async function readText(maxChars: number): Promise<string> {
  const chunks: Buffer[] = [];
  let total = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    total += chunk.length;
    // No character of UTF-16 takes more than three bytes.
    if (total > maxChars * 3) break;
  }
  const text = decoded(Buffer.concat(chunks)).replace(/\r?\n$/, "");
  if (text.length <= maxChars) return text;
  throw new SvcError("USAGE", `The text has more than ${maxChars} characters.`);
}

function decoded(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new SvcError("USAGE", "The text is not UTF-8, or far too long.", { cause });
  }
}
