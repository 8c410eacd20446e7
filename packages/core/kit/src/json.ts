import { isUtf8 } from "node:buffer";
import type { Json } from "@svc/contract";

/** Levels of arrays and objects in a text of somebody else's. No platform sends more than a dozen. */
export const MAX_JSON_DEPTH = 128;

/**
 * The value of a text that a stranger may have written (RFC 8259), or undefined when the bytes are not UTF-8, the text is
 * not JSON, or it is nested deeper than `MAX_JSON_DEPTH`. (`undefined` is no JSON value.)
 */
export function parseJson(bytes: Uint8Array): Json | undefined {
  if (!isUtf8(bytes) || nestsDeeperThan(MAX_JSON_DEPTH, bytes)) return undefined;
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8")) as Json;
  } catch {
    return undefined;
  }
}

/**
 * JSON.parse takes 15 ms for 100 000 open brackets, in which nobody else is served; reading over them takes 0.1 ms. What
 * is too short to be so deep, which is nearly every message, is not read at all.
 */
function nestsDeeperThan(levels: number, bytes: Uint8Array): boolean {
  if (bytes.length <= levels) return false;
  let depth = 0;
  let inText = false;
  for (let i = 0; i < bytes.length; i += 1) {
    const byte = bytes[i];
    if (inText) {
      if (byte === BACKSLASH) i += 1;
      else if (byte === QUOTE) inText = false;
    } else if (byte === QUOTE) inText = true;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      depth += 1;
      if (depth > levels) return true;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
  }
  return false;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
