/** A secret on its way in: typed unseen, or read from a file or a pipe. Never an argument: those stand in `ps` and in the shell's history. */
import { closeSync, openSync, readSync } from "node:fs";
import { SvcError } from "@svc/contract";

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
  const text = textOf(file === "-" ? await readInput() : readFile(file)).replace(/\r?\n$/, "");
  if (text.trim() === "") throw new SvcError("USAGE", BLANK);
  return text;
}

const BLANK = "A blank secret is no secret.";

function textOf(bytes: Buffer): string {
  if (bytes.length > MOST_BYTES) throw new SvcError("USAGE", "The secret is longer than 64 KiB.");
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new SvcError("USAGE", "The secret is not UTF-8 text.", { cause });
  }
}

async function readInput(): Promise<Buffer> {
  if (process.stdin.isTTY) throw new SvcError("USAGE", "Standard input is a terminal, where the secret would show.");
  const chunks: Buffer[] = [];
  let total = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    total += chunk.length;
    if (total > MOST_BYTES) break;
  }
  return Buffer.concat(chunks);
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
