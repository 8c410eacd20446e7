/** A PDF, page by page, as lines for whoever asked. pdf.js never throws anything that ends the process, save for want of memory. */
import type { PagesRequest, PdfFailure, PdfLine } from "../protocol.ts";
import { MAX_PAGE_CHARS } from "../protocol.ts";
import { documentFacts } from "./document-facts.ts";
import { openPdf, type Pdf } from "./open-pdf.ts";
import { pageText } from "./page-text.ts";

export async function* readPdf(bytes: Uint8Array<ArrayBuffer>, { ranges }: PagesRequest): AsyncGenerator<PdfLine> {
  let pdf: Pdf;
  try {
    pdf = await openPdf(bytes);
    yield { document: await documentFacts(pdf) };
  } catch (error) {
    yield { failed: failureOf(error) };
    return;
  }
  for (const [first, last] of ranges) {
    for (let page = first; page <= Math.min(last ?? pdf.numPages, pdf.numPages); page += 1) {
      const line = await pageLine(pdf, page);
      yield line;
      if ("failed" in line) return;
    }
  }
  yield { end: true };
}

async function pageLine(pdf: Pdf, page: number): Promise<PdfLine> {
  try {
    const text = await pageText(pdf, page);
    return text.length > MAX_PAGE_CHARS ? { failed: "too-much" } : { page, text };
  } catch {
    return { page, text: "", damaged: true };
  }
}

/** The names of pdf.js; whatever else it throws while it opens a file, the file is at fault. */
const failureOf = (error: unknown): PdfFailure =>
  (error as { name?: unknown } | null)?.name === "PasswordException" ? "encrypted" : "invalid";
