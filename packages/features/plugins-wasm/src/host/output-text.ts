import { SvcError } from "@svc/contract";

/** What a plugin gave, as the text that it has to be. Throws TOOL_FAILED. */
export function outputText(output: Uint8Array): string {
  // A model takes an empty answer for a call that was lost.
  if (output.byteLength === 0) return "The plugin gave no output.";
  const text = decoded(output);
  if (text.includes("\0"))
    throw new SvcError("TOOL_FAILED", "The plugin's output has NUL characters in it: it is no text.");
  return text;
}

function decoded(output: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(output);
  } catch {
    throw new SvcError("TOOL_FAILED", "The plugin's output is not UTF-8.");
  }
}
