/**
 * What a collector can read. One value that it can't makes it refuse a whole request, with the spans of everybody else in
 * it, and some values come from outside: the id of a tool call is the model's.
 */
import type { Attributes } from "@opentelemetry/api";

/** UTF-16 code units of one text; longer ones are cut. */
const LONGEST_TEXT = 16_384;

/** Texts cut and well formed, numbers that fit; whatever else is left out. */
export function cleaned(attributes: Attributes): Attributes {
  const clean: Attributes = {};
  for (const key in attributes) {
    const value = attributes[key];
    if (typeof value === "string") clean[key] = cleanText(value);
    else if (typeof value === "number" && isTold(value)) clean[key] = value;
  }
  return clean;
}

/** Half a character, where the cut went through one or somebody sent it so, becomes U+FFFD. */
export const cleanText = (text: string): string =>
  (text.length > LONGEST_TEXT ? text.slice(0, LONGEST_TEXT) : text).toWellFormed();

/** Whole numbers are written as 64 bits. */
const isTold = (value: number): boolean =>
  Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
