/** What the proxy did not let through: told with the action that it happened in. */
import type { SvcError } from "@svc/contract";

export interface Refusal {
  /** Fit to be shown. */
  readonly host: string;
  /** DOMAIN_REFUSED or ADDRESS_REFUSED. */
  readonly error: SvcError;
}

export interface Refusals {
  add(refusal: Refusal): void;
  /** A place to ask from, later. */
  mark(): number;
  /** What was refused after that place, oldest first; of very many the last. */
  since(mark: number): readonly Refusal[];
}

/**
 * The newest that the page asked for, of those whose page isn't known. Chromium asks hosts of its maker by itself, at any
 * moment; a page may ask for the same ones, so that one of them counts where there is no other.
 */
export function newestOfPage(refusals: readonly Refusal[]): Refusal | undefined {
  return refusals.findLast(({ host }) => !OF_THE_BROWSER.test(host)) ?? refusals.at(-1);
}

const OF_THE_BROWSER = /(^|\.)(google(apis)?|gvt1)\.com$/;

export function refusalList(): Refusals {
  let seen = 0;
  const last: Refusal[] = [];
  return {
    add(refusal) {
      seen += 1;
      last.push(refusal);
      if (last.length > MAX_KEPT) last.shift();
    },
    mark: () => seen,
    since: (mark) => (seen > mark ? last.slice(Math.max(0, last.length - (seen - mark))) : []),
  };
}

/** A page that asks for thousands of forbidden things fills no memory. */
const MAX_KEPT = 200;
