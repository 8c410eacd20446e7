/** Where the heads of requests end in what a connection brings, whatever the cut of its pieces. */

const HEAD_END = Buffer.from("\r\n\r\n");

/** Where the first head ends, of whose end `seen` bytes came before `from`; -1 where none does. */
export function endOfHead(bytes: Buffer, from: number, seen: number): number {
  if (seen > 0) {
    const missing = HEAD_END.subarray(seen);
    const to = from + missing.length;
    if (to <= bytes.length && missing.equals(bytes.subarray(from, to))) return to;
  }
  const at = bytes.indexOf(HEAD_END, from);
  return at === -1 ? -1 : at + HEAD_END.length;
}

/** Where so many lines have ended, or all of it. */
export function afterLines(bytes: Buffer, from: number, lines: number): number {
  let at = from;
  for (let left = lines; left > 0; left -= 1) {
    at = bytes.indexOf(LF, at) + 1;
    if (at === 0) return bytes.length;
  }
  return at;
}

const CR = 13;
const LF = 10;

/** With how much of the end of a head `bytes` end, `seen` of it having come before them. */
export function seenOfEnd(bytes: Buffer, seen: number): number {
  const { length } = bytes;
  const last = bytes[length - 1];
  if (last !== LF && last !== CR) return 0;
  // A whole one: what follows is no part of another.
  if (length > 3 && last === LF && bytes[length - 2] === CR && bytes[length - 3] === LF && bytes[length - 4] === CR)
    return 0;
  let count = length > 2 ? 0 : seen;
  for (let at = Math.max(0, length - 3); at < length; at += 1) {
    const byte = bytes[at];
    if (byte === CR) count = count === 2 ? 3 : 1;
    else if (byte === LF && (count === 1 || count === 3)) count = (count + 1) % HEAD_END.length;
    else count = 0;
  }
  return count;
}
