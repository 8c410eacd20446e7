/** What was filled in to a form: it is on the page, and not in the page's own text. */
import type { Pdf } from "./open-pdf.ts";
import { plain } from "./plain.ts";

type Page = Awaited<ReturnType<Pdf["getPage"]>>;

/** A line a field, with what the form calls it. */
export async function filledIn(page: Page): Promise<string[]> {
  // Text whose annotations are broken is text all the same.
  const annotations = (await page.getAnnotations().catch(() => [])) as readonly Readonly<Record<string, unknown>>[];
  return annotations.flatMap(({ subtype, fieldType, fieldValue, fieldName, alternativeText, hidden }) => {
    if (subtype !== "Widget" || hidden === true || (fieldType !== "Tx" && fieldType !== "Ch")) return [];
    const value = textOf(Array.isArray(fieldValue) ? fieldValue.join(", ") : fieldValue);
    return value === "" ? [] : [`${textOf(alternativeText) || textOf(fieldName)}: ${value}`];
  });
}

const textOf = (value: unknown): string => (typeof value === "string" ? plain(value).trim() : "");
