/** What is kept of a step's output. */
import type { Json } from "@svc/contract";

const MAX_OUTPUT_CHARS = 65_536;

/** A value that is too long becomes the beginning of its text, and says so. */
export function keptOutput(output: Json): Json {
  const text = typeof output === "string" ? output : JSON.stringify(output);
  const over = text.length - MAX_OUTPUT_CHARS;
  return over <= 0 ? output : `${text.slice(0, MAX_OUTPUT_CHARS).toWellFormed()}\n[cut: ${over} more characters]`;
}
