import { isUtf8 } from "node:buffer";
import { type Json, SvcError } from "@svc/contract";

/** Levels of arrays and objects in untrusted text. No platform sends more than a dozen. */
export const MAX_JSON_DEPTH = 128;

/**
 * The value of a text that a stranger may have written (RFC 8259), or undefined when the bytes are not UTF-8, the text is
 * not JSON, or it is nested deeper than `MAX_JSON_DEPTH`. (`undefined` is no JSON value.)
 */
export function parseJson(bytes: Uint8Array): Json | undefined {
  if (!isUtf8(bytes)) return undefined;
  const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = buffer.toString("utf8");
  if (nestsDeeperThan(MAX_JSON_DEPTH, text)) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** `parseJson` for a request's body. Throws BAD_JSON. */
export function readJson(bytes: Uint8Array): Json {
  const value = parseJson(bytes);
  if (value === undefined) throw new SvcError("BAD_JSON");
  return value;
}

/** A value of our own as the JSON that it is. To TypeScript no interface is `Json`, which has an index signature. */
export const asJson = (value: object): Json => value as Json;

/** JSON as the type that was written: only for what this service stored itself, or a schema has checked. */
export const jsonAs = <T>(value: Json): T => value as T;

/**
 * JSON.parse blocks the event loop for 15 ms on 100 000 open brackets; scanning them takes 0.1 ms. A text with too few
 * brackets to be so deep, as nearly every message is, is not scanned: counting brackets takes a quarter of a microsecond.
 */
function nestsDeeperThan(levels: number, text: string): boolean {
  if (!hasMoreThan(levels, text)) return false;
  let depth = 0;
  let isQuoted = false;
  for (let i = 0; i < text.length; i += 1) {
    const char = text.charCodeAt(i);
    if (isQuoted) {
      if (char === BACKSLASH) i += 1;
      else if (char === QUOTE) isQuoted = false;
    } else if (char === QUOTE) isQuoted = true;
    else if (char === OPEN_LIST || char === OPEN_OBJECT) {
      depth += 1;
      if (depth > levels) return true;
    } else if (char === CLOSE_LIST || char === CLOSE_OBJECT) depth -= 1;
  }
  return false;
}

function hasMoreThan(brackets: number, text: string): boolean {
  if (text.length <= brackets) return false;
  let found = 0;
  for (const open of ["[", "{"]) {
    for (let at = text.indexOf(open); at >= 0; at = text.indexOf(open, at + 1)) {
      found += 1;
      if (found > brackets) return true;
    }
  }
  return false;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Fields of untrusted JSON: a missing field, or one of another type, reads as undefined. */
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
