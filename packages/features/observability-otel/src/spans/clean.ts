/**
 * What a collector can read. One value that it can't makes it refuse a whole request, with the spans of everybody else in
 * it, and some values come from outside: the id of a tool call is the model's.
 */
import type { Attributes } from "@opentelemetry/api";

/** UTF-16 code units of one text; longer ones are cut. */
const LONGEST_TEXT = 16_384;

/** Adds texts, cut and well formed, and numbers that fit; whatever else is left out. */
export function addCleaned(attributes: Attributes, added: Attributes): void {
  for (const key in added) {
    const value = added[key];
    if (typeof value === "string") attributes[key] = cleanText(value);
    else if (typeof value === "number" && isTold(value)) attributes[key] = value;
  }
}

/** Half a character, where the cut went through one or somebody sent it so, becomes U+FFFD. */
export const cleanText = (text: string): string =>
  (text.length > LONGEST_TEXT ? text.slice(0, LONGEST_TEXT) : text).toWellFormed();

/** Whole numbers are written as 64 bits. */
const isTold = (value: number): boolean =>
  Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
