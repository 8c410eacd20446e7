import { SvcError } from "@svc/contract";
import type { PdfFailure } from "../protocol.ts";

/** PDF_TOO_MUCH, with what there was too much of. */
export const tooMuch = (what: "memory" | "time" | "text" | "file"): SvcError =>
  new SvcError("PDF_TOO_MUCH", SENTENCES[what], {
    hint:
      what === "file"
        ? "Split the file first."
        : "Ask for fewer pages; a file that does this with one page may be made to do so.",
  });

const SENTENCES = {
  memory: "Reading the PDF takes more memory than it may.",
  time: "Reading the PDF takes longer than it may.",
  text: "The PDF gives more text at once than may be read.",
  file: "The PDF is larger than 64 MiB, which is the most that is read.",
} as const;

export const notAPdf = (): SvcError => new SvcError("PDF_INVALID", "The file is no PDF: it does not begin as one.");

export function failed(failure: PdfFailure): SvcError {
  if (failure === "too-much") return tooMuch("text");
  if (failure === "invalid")
    return new SvcError("PDF_INVALID", "The file is damaged, or cut off: no page of it can be found.");
  return new SvcError("PDF_ENCRYPTED", undefined, {
    hint: "Save a copy without a password, or ask its owner for one.",
  });
}
