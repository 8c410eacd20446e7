/** Fields of JSON that somebody else wrote: what is not there, or not what was asked for, reads as nothing. */
import type { Json } from "@svc/contract";

export type Fields = Readonly<Record<string, Json>>;

export const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : NONE;

const NONE: Fields = Object.freeze({});

export const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? (value as Json[]) : []);

/** Blank counts as nothing. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value.trim() !== "" ? value : undefined;

/** An id or a name: longer than any of a platform's it is nothing, for it is kept and shown again and again. */
export function wordOf(value: unknown): string | undefined {
  const text = textOf(value);
  return text === undefined || text.length > MAX_WORD_CHARS ? undefined : text;
}

const MAX_WORD_CHARS = 512;
