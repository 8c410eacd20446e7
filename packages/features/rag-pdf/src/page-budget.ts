/** Pages for one answer, until it is full. */
import type { Unread } from "./notes.ts";
import type { PageOfPdf } from "./pdf-pages.ts";

/** What the brackets around a page cost, and its number in a note. */
const PAGE_CHARS = 28;
const NOTE_CHARS = 9;

export class PageBudget {
  readonly taken: { readonly page: number; readonly text: string }[] = [];
  readonly unread: { readonly [Kind in keyof Unread]: number[] } = { empty: [], damaged: [] };
  /** Where the next answer begins; undefined: nothing is left. */
  next: { readonly page: number; readonly offset: number } | undefined;
  #left: number;
  #skip: number;

  /** `skip`: characters of the first page that were given before. */
  constructor(maxChars: number, skip: number) {
    this.#left = maxChars;
    this.#skip = skip;
  }

  /** Whether there is room for another one. */
  take({ page, text: whole, isDamaged }: PageOfPdf): boolean {
    const skipped = this.#skip;
    this.#skip = 0;
    const text = whole.slice(skipped);
    if (whole === "") {
      if (this.#left < NOTE_CHARS) return this.#full(page, 0);
      this.unread[isDamaged ? "damaged" : "empty"].push(page);
      this.#left -= NOTE_CHARS;
      return true;
    }
    const fits = fitting(text, this.#left - PAGE_CHARS);
    // One that would be torn begins the next answer, unless that would be the same.
    if (fits < text.length && this.taken.length > 0) return this.#full(page, skipped);
    this.taken.push({ page, text: text.slice(0, fits) });
    this.#left -= PAGE_CHARS + jsonChars(text.slice(0, fits));
    return fits === text.length || this.#full(page, skipped + fits);
  }

  #full(page: number, offset: number): false {
    this.next = { page, offset };
    return false;
  }
}

/** How much of a text has at most `maxChars` as JSON. No character is cut in two. */
function fitting(text: string, maxChars: number): number {
  let low = 0;
  let high = Math.min(text.length, Math.max(maxChars, 1));
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (jsonChars(text.slice(0, middle)) <= maxChars) low = middle;
    else high = middle - 1;
  }
  const isTorn = low < text.length && /[\uD800-\uDBFF]/.test(text[low - 1] ?? "");
  // An answer that gets nowhere would be asked for again and again.
  return Math.max(isTorn ? low - 1 : low, Math.min(text.length, 2));
}

const jsonChars = (text: string): number => JSON.stringify(text).length - 2;
