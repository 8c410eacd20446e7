/**
 * What a command reads: a text from standard input, and a secret that is typed unseen, or comes from a file or a pipe. A secret is
 * never an argument: those stand in `ps` and in the shell's history.
 */
import { closeSync, openSync, readSync } from "node:fs";
import { SvcError } from "@svc/contract";

/** From standard input, to its end. Throws USAGE for more than `maxChars`, and for what is no UTF-8. */
export async function readText(maxChars: number): Promise<string> {
  // No character of UTF-16 takes more than three bytes.
  const bytes = await readInput(maxChars * 3);
  const text = decoded(bytes, "The text is not UTF-8, or far too long.").replace(/\r?\n$/, "");
  if (text.length <= maxChars) return text;
  throw new SvcError("USAGE", `The text has more than ${maxChars} characters.`);
}

/** The longest secret: a private key in PEM is some kilobytes. */
const MOST_BYTES = 64 * 1024;

/** Typed at a terminal, else standard input to its end. Throws USAGE for a blank one, CANCELLED. */
export async function readSecret(message: string): Promise<string> {
  if (!process.stdin.isTTY) return await readSecretFile("-");
  if (!process.stdout.isTTY) throw new SvcError("USAGE", "A secret is typed at a terminal, or piped in.");
  const { askHidden } = await import("./prompts.ts");
  return await askHidden({ message, check: (text) => (text === "" ? BLANK : undefined) });
}

/** `-` is standard input. The newline at the end is the editor's, not the secret's. */
export async function readSecretFile(file: string): Promise<string> {
  const text = textOf(file === "-" ? await secretInput() : readFile(file)).replace(/\r?\n$/, "");
  if (text.trim() === "") throw new SvcError("USAGE", BLANK);
  return text;
}

const BLANK = "A blank secret is no secret.";

function textOf(bytes: Buffer): string {
  if (bytes.length > MOST_BYTES) throw new SvcError("USAGE", "The secret is longer than 64 KiB.");
  return decoded(bytes, "The secret is not UTF-8 text.");
}

function secretInput(): Promise<Buffer> {
  if (process.stdin.isTTY) throw new SvcError("USAGE", "Standard input is a terminal, where the secret would show.");
  return readInput(MOST_BYTES);
}

/** Not by the size that the system tells: a pipe has none, and /dev/zero no end. */
function readFile(file: string): Buffer {
  let handle: number | undefined;
  try {
    handle = openSync(file, "r");
    const bytes = Buffer.alloc(MOST_BYTES + 1);
    let total = 0;
    for (let count = -1; count !== 0 && total < bytes.length; total += count) {
      count = readSync(handle, bytes, total, bytes.length - total, null);
    }
    return bytes.subarray(0, total);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const why = code === "ENOENT" ? "does not exist" : code === "EISDIR" ? "is a directory" : "can't be read";
    throw new SvcError("USAGE", `The file of the secret ${why}.`, { cause });
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

/** Standard input; of what is longer, a little more than `most` bytes. */
async function readInput(most: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let total = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    total += chunk.length;
    if (total > most) break;
  }
  return Buffer.concat(chunks);
}

/** Throws USAGE with this sentence. */
function decoded(bytes: Buffer, sentence: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new SvcError("USAGE", sentence, { cause });
  }
}
