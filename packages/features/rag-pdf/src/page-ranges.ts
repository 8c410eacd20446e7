/** "1-3,7,20-": which pages, as people write it. */
import type { PageRange } from "./protocol.ts";

/** How it is written; a range that runs backwards is too. */
export const LIST =
  /^\s*[1-9]\d{0,6}\s*(?:-\s*(?:[1-9]\d{0,6}\s*)?)?(?:,\s*[1-9]\d{0,6}\s*(?:-\s*(?:[1-9]\d{0,6}\s*)?)?)*$/;
export const ALL_PAGES: readonly PageRange[] = [[1, null]];

/** In ascending order, each page once; undefined where it says no pages. */
export function pageRanges(text: string): readonly PageRange[] | undefined {
  if (!LIST.test(text)) return undefined;
  const ranges = text.split(",").map((part): PageRange => {
    const [first = "", last] = part.split("-").map((word) => word.trim());
    return [Number(first), last === undefined ? Number(first) : last === "" ? null : Number(last)];
  });
  if (ranges.some(([first, last]) => last !== null && last < first)) return undefined;
  return merged(ranges.toSorted(([one], [other]) => one - other));
}

function merged(ranges: readonly PageRange[]): PageRange[] {
  const apart: PageRange[] = [];
  for (const [first, last] of ranges) {
    const before = apart.at(-1);
    if (before === undefined || (before[1] !== null && first > before[1] + 1)) apart.push([first, last]);
    else apart[apart.length - 1] = [before[0], before[1] === null || last === null ? null : Math.max(before[1], last)];
  }
  return apart;
}

/** Ascending numbers, as people write them: "3, 5-7". */
export function asRanges(pages: readonly number[]): string {
  return merged(pages.map((page) => [page, page] as const))
    .map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`))
    .join(", ");
}

/** The note about pages without text. */
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
