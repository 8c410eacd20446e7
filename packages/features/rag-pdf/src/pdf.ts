import type { Contributions, DocumentReader, FeatureContext } from "@svc/contract";
import { ALL_PAGES, notesOf, pdfRead } from "./pdf-read.ts";
import { pdfPages, type PdfPages } from "./pdf-pages.ts";

export function create(context: FeatureContext<unknown>): Contributions {
  const pdf = pdfPages(context);
  return { tools: [pdfRead(pdf)], readers: [pdfReader(pdf)] };
}

/** PDFs for `file_read`: the text of all pages as one. */
export const pdfReader = (pdf: PdfPages): DocumentReader => ({
  type: "application/pdf",
  async read(path, { offset, maxBytes }, context) {
    const unread = { empty: [] as number[], damaged: [] as number[] };
    const parts: Buffer[] = [];
    let at = 0;
    let kept = 0;
    const page = ({ page: number, text, isDamaged }: { page: number; text: string; isDamaged: boolean }): boolean => {
      const bytes = Buffer.from(`${number === 1 ? "" : "\n\n"}[page ${number}]\n${text}`);
      const wanted = bytes.subarray(Math.max(offset - at, 0));
      at += bytes.byteLength;
      if (at <= offset) return true;
      if (text === "") unread[isDamaged ? "damaged" : "empty"].push(number);
      parts.push(wanted);
      kept += wanted.byteLength;
      return kept <= maxBytes;
    };
    await pdf.read(path, ALL_PAGES, { document: () => undefined, page }, context);
    const { text, bytes } = wholeCharacters(Buffer.concat(parts), maxBytes);
    return { text, nextOffset: kept > bytes ? offset + bytes : undefined, notes: notesOf(unread) };
  },
});

/** At most so many bytes, of whole characters; one of more bytes than that is given all the same, or no one would get on. */
function wholeCharacters(all: Buffer, maxBytes: number): { text: string; bytes: number } {
  const goesOn = (at: number): boolean => at < all.byteLength && (all[at]! & 0xc0) === 0x80;
  let start = 0;
  while (goesOn(start)) start += 1;
  let end = Math.min(maxBytes, all.byteLength);
  while (end > 0 && goesOn(end)) end -= 1;
  if (end <= start) {
    end = Math.min(start + 1, all.byteLength);
    while (goesOn(end)) end += 1;
  }
  return { text: all.toString("utf8", start, end), bytes: end };
}
