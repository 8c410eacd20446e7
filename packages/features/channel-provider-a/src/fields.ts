/** What the platform writes, read without trust: the kit's pieces, and what is its own. */
import type { Json } from "@svc/contract";
import { textOf } from "@svc/kit";

export { type Fields, fieldsOf, listOf, textOf, wordOf } from "@svc/kit";

/** Also of text, as some numbers come. Nothing else is converted: `{"toString":1}` would throw. */
export function numberOf(value: Json | undefined): number | undefined {
  const number = typeof value === "number" ? value : Number(textOf(value) ?? Number.NaN);
  return Number.isFinite(number) ? number : undefined;
}
