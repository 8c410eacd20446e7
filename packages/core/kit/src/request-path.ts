/**
 * Whether the path of a request has no second spelling. `%61` is `a` to one reader and three characters to the next: a
 * proxy that guards `/api` by the path as it is written would let `/%61pi` pass to a reader that decodes it.
 */
export function isCanonicalPath(path: string): boolean {
  if (!path.startsWith("/")) return false;
  let hasEscape = false;
  for (let at = 0; at < path.length; at += 1) {
    const code = path.charCodeAt(at);
    if (code === PERCENT) {
      if (!isNeededEscape(path, at)) return false;
      hasEscape = true;
    } else if (code === SLASH) {
      if (!isPlainSegment(path, at + 1)) return false;
    } else if (code <= SPACE || code > TILDE || code === BACKSLASH || code === HASH || code === QUESTION) return false;
  }
  return !hasEscape || isText(path);
}

const SPACE = 0x20;
const HASH = 0x23;
const PERCENT = 0x25;
const DOT = 0x2e;
const SLASH = 0x2f;
const QUESTION = 0x3f;
const BACKSLASH = 0x5c;
const TILDE = 0x7e;

/** Neither `.` nor `..`, which readers resolve. */
function isPlainSegment(path: string, start: number): boolean {
  let end = start;
  while (end < start + 2 && path.charCodeAt(end) === DOT) end += 1;
  return end === start || (end < path.length && path.charCodeAt(end) !== SLASH);
}

/** Two hex digits of a character that can't stand for itself (RFC 3986 section 2.3). NUL ends a text for readers in C. */
function isNeededEscape(path: string, at: number): boolean {
  const hex = path.slice(at + 1, at + 3);
  if (!/^[0-9A-Fa-f]{2}$/.test(hex)) return false;
  return hex !== "00" && !/^[A-Za-z0-9._~-]$/.test(String.fromCharCode(Number.parseInt(hex, 16)));
}

/** The escapes are UTF-8. */
function isText(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
