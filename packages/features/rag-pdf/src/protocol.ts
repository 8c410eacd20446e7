/**
 * The protocol of a process that reads one PDF. In: one line of JSON, then the file until the end of the input. Out: lines of
 * JSON. The fourth descriptor is a pipe without writes: when it closes, the parent is gone, and the process exits.
 */

/** First and last page, from 1; null: to the end. */
export type PageRange = readonly [first: number, last: number | null];

export interface PagesRequest {
  /** In ascending order, none meeting another. */
  readonly ranges: readonly PageRange[];
}

export type PdfLine =
  | { readonly document: DocumentFacts }
  /** `damaged`: there is something, and it can't be read. */
  | { readonly page: number; readonly text: string; readonly damaged?: true }
  | { readonly end: true }
  | { readonly failed: PdfFailure };

export type PdfFailure = "encrypted" | "invalid" | "too-much";

export interface DocumentFacts {
  readonly pages: number;
  /** What the file says of itself: untrusted, of one line, cut. Dates are ISO 8601 where they can be read. */
  readonly info: Readonly<Partial<Record<InfoKey, string>>>;
}

export const INFO_KEYS = [
  "title",
  "author",
  "subject",
  "keywords",
  "creator",
  "producer",
  "created",
  "modified",
] as const;
export type InfoKey = (typeof INFO_KEYS)[number];

export const MAX_INFO_CHARS = 300;
/** Of one page. */
export const MAX_PAGE_CHARS = 1_000_000;
/** What a process that reads may take, its program included: from inside, should anyone who watches from outside be too slow. */
export const MAX_MEMORY_BYTES = 640 * 1024 * 1024;
export const LIFELINE_FD = 3;
