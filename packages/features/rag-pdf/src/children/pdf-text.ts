/**
 * `svc __pdf-text`: the process in which a PDF is read. It takes bytes and gives text: no argument, no path, no environment, no
 * request. Anyone who wrote the file may take this process over or bring it down, and nothing else.
 */
import { fstatSync } from "node:fs";
import { setPriority } from "node:os";
import { LIFELINE_FD, MAX_MEMORY_BYTES, type PagesRequest, type PdfLine } from "../protocol.ts";
import { watchFromInside, withoutTheWorld } from "../text/inside.ts";

const NO_USE = 64;

export async function run(args: readonly string[]): Promise<number | undefined> {
  if (args.length > 0 || !hasLifeline()) return NO_USE;
  watchFromInside(LIFELINE_FD, MAX_MEMORY_BYTES);
  // No one reads any more: then there is no one to tell why.
  process.stdout.on("error", () => process.exit(1));
  makeWay();
  withoutTheWorld(globalThis, console);
  const { request, bytes } = await input();
  const { readPdf } = await import("../text/read-pdf.ts");
  for await (const line of readPdf(bytes, request)) await tell(line);
  return 0;
}

/** Only the parent that started it for this purpose passes the pipe. */
function hasLifeline(): boolean {
  try {
    const pipe = fstatSync(LIFELINE_FD);
    return pipe.isSocket() || pipe.isFIFO();
  } catch {
    return false;
  }
}

/** Low priority: an expensive file must not slow the daemon. */
function makeWay(): void {
  try {
    setPriority(10);
  } catch {
    // Not everywhere, and nothing depends on it.
  }
}

async function input(): Promise<{ request: PagesRequest; bytes: Uint8Array<ArrayBuffer> }> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  const all = Buffer.concat(chunks);
  const line = all.indexOf(10);
  const request = JSON.parse(all.toString("utf8", 0, line)) as PagesRequest;
  // Copied: pdf.js takes the whole buffer for itself.
  return { request, bytes: new Uint8Array(all.subarray(line + 1)) };
}

/** Resolves once the line is taken: what no one reads is not worked out. */
const tell = (line: PdfLine): Promise<void> =>
  new Promise((resolve, reject) => {
    process.stdout.write(`${JSON.stringify(line)}\n`, (error) => (error ? reject(error) : resolve()));
  });
