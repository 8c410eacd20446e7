/** Fields of JSON that somebody else wrote: what is not there, or not what was asked for, reads as nothing. */
import type { Json } from "@svc/contract";

export type Fields = Readonly<Record<string, Json | undefined>>;

export const fieldsOf = (value: Json | undefined): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : NONE;

const NONE: Fields = Object.freeze({});

export const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? (value as Json[]) : []);

/** Blank counts as nothing. */
export const textOf = (value: Json | undefined): string | undefined =>
  typeof value === "string" && value.trim() !== "" ? value : undefined;

/** An id or a name: longer than any of the platform's it is nothing, for it is kept and shown again and again. */
export function wordOf(value: Json | undefined): string | undefined {
  const text = textOf(value);
  return text === undefined || text.length > MAX_WORD_CHARS ? undefined : text;
}

const MAX_WORD_CHARS = 200;
