/** What the platform writes, read without trust: the kit's pieces, and what is its own. */
import { wordOf as anyWordOf } from "@svc/kit";

export { type Fields, fieldsOf, listOf, textOf } from "@svc/kit";

export const wordOf = (value: unknown): string | undefined => anyWordOf(value)?.trim();

export const numberOf = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) ? value : undefined;
