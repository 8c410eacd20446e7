import { noSuchElement } from "@svc/kit/browser";

/**
 * A target as the program takes it: `@e3`, or a CSS selector. What it would take for an option, for a time, or for something else
 * that is neither is refused. Throws BROWSER_FAILED.
 */
export function elementOf(target: string): string {
  const word = target.trim();
  if (REF.test(word)) return word;
  if (word === "" || /^[-\d@]/.test(word) || /^(?:text|xpath)=/i.test(word) || word.includes("\0"))
    throw noSuchElement();
  return word;
}

export const isRef = (target: string): boolean => REF.test(target.trim());

const REF = /^@e[0-9]{1,9}$/;
