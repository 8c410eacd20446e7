/** Fields of JSON that somebody else wrote: what is not there, or not what was asked for, reads as nothing. */
import type { Json } from "@svc/contract";

export type Fields = Readonly<Record<string, Json>>;

export const fieldsOf = (value: Json | undefined): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : NONE;

const NONE: Fields = Object.freeze({});

/** Undefined where there is no such object. */
export const someFields = (value: Json | undefined): Fields | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;

export const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? (value as Json[]) : []);

/** Blank counts as nothing. */
export const textOf = (value: Json | undefined): string | undefined =>
  typeof value === "string" && value.trim() !== "" ? value : undefined;

/** An id or a name: longer than any of the platform's it is nothing, for it is kept and shown again and again. */
export function wordOf(value: Json | undefined): string | undefined {
  const text = textOf(value);
  return text === undefined || text.length > MAX_WORD_CHARS ? undefined : text;
}

const MAX_WORD_CHARS = 512;

/** Ids of the platform are whole numbers of at most 52 bits. https://core.telegram.org/bots/api#user */
export const idOf = (value: Json | undefined): number | undefined =>
  Number.isSafeInteger(value) && value !== 0 ? (value as number) : undefined;

export const numberOf = (value: Json | undefined): number | undefined =>
  typeof value === "number" && Number.isFinite(value) ? value : undefined;
