/** What the platform writes, read without trust: the kit's pieces, and what is its own. */
import type { Json } from "@svc/contract";
import type { Fields } from "@svc/kit";

export { type Fields, fieldsOf, listOf, textOf, wordOf } from "@svc/kit";

/** Undefined where there is no such object. */
export const someFields = (value: Json | undefined): Fields | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;

/** Ids of the platform are whole numbers of at most 52 bits. https://core.telegram.org/bots/api#user */
export const idOf = (value: Json | undefined): number | undefined =>
  Number.isSafeInteger(value) && value !== 0 ? (value as number) : undefined;

export const numberOf = (value: Json | undefined): number | undefined =>
  typeof value === "number" && Number.isFinite(value) ? value : undefined;
