/** What is said of pages without text. */
import { asRanges } from "./page-ranges.ts";

export interface Unread {
  /** Ascending. */
  readonly empty: readonly number[];
  readonly damaged: readonly number[];
}

export const notesOf = ({ empty, damaged }: Unread): string[] => [
  ...said(empty, "has no text; it may be a scan.", "have no text; they may be scans."),
  ...said(damaged, "is damaged and can't be read.", "are damaged and can't be read."),
];

const said = (pages: readonly number[], one: string, many: string): string[] =>
  pages.length === 0 ? [] : [pages.length === 1 ? `Page ${pages[0]} ${one}` : `Pages ${asRanges(pages)} ${many}`];
