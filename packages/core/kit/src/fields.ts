/** Fields of untrusted JSON: a missing field, or one of another type, reads as undefined. */
import type { Json } from "@svc/contract";

export type Fields = Readonly<Record<string, Json>>;

export const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : NONE;

const NONE: Fields = Object.freeze({});

export const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? (value as Json[]) : []);

/** Blank counts as nothing. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value.trim() !== "" ? value : undefined;

/** An id or a name. A value longer than any platform's is dropped, because ids are stored and shown often. */
export function wordOf(value: unknown): string | undefined {
  const text = textOf(value);
  return text === undefined || text.length > MAX_WORD_CHARS ? undefined : text;
}

const MAX_WORD_CHARS = 512;
