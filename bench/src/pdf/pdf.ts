/** Text of PDFs: the process that the feature starts, of the binary with everything, beside pdftotext on the same file, in turns. */
import { execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";

export interface PdfTime {
  readonly file: string;
  readonly pages: number;
  /** Medians: from the start of the process to the last page. */
  readonly ms: number;
  readonly pdftotextMs: number;
}

const FIXTURES = join(import.meta.dirname, "../../../packages/features/rag-pdf/test/fixtures");
const FILES = ["groff-gropdf", "pdflatex-two-columns", "pdflatex-long", "reportlab-cjk-not-embedded"];

export async function measurePdf(rounds: number, binary: string = fullestBinaryPath()): Promise<PdfTime[]> {
  const times: PdfTime[] = [];
  for (const file of FILES) {
    const path = join(FIXTURES, `${file}.pdf`);
    const [ours, theirs]: [number[], number[]] = [[], []];
    let pages = 0;
    for (let round = 0; round < rounds; round += 1) {
      const before = performance.now();
      pages = await read(binary, readFileSync(path));
      const between = performance.now();
      execFileSync("pdftotext", ["-enc", "UTF-8", path, "-"], { maxBuffer: 64 * 1024 * 1024 });
      ours.push(between - before);
      theirs.push(performance.now() - between);
    }
    times.push({ file, pages, ms: median(ours), pdftotextMs: median(theirs) });
  }
  return times;
}

/** Resolves with the number of pages that came. Rejects where the process fails. */
async function read(binary: string, bytes: Uint8Array): Promise<number> {
  const child = spawn(binary, ["__pdf-text"], { env: {}, stdio: ["pipe", "pipe", "ignore", "pipe"] });
  child.stdin!.write('{"ranges":[[1,null]]}\n');
  child.stdin!.end(bytes);
  let output = "";
  for await (const chunk of child.stdout!.setEncoding("utf8")) output += chunk as string;
  if (!output.endsWith('{"end":true}\n')) throw new Error("the process that reads PDFs did not come to its end");
  return output.split('{"page":').length - 1;
}

const median = (all: readonly number[]): number => all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? 0;
