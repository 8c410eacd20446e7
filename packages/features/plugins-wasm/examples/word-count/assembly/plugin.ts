import { failure, input, output } from "./host";

/** A call of the tool. */
export function run(): i32 {
  const text = input();
  if (text.length == 0) return failure("There is no text to count in.");
  return output(`${lines(text)} lines, ${words(text)} words, ${characters(text)} characters`);
}

function lines(text: string): i32 {
  let count = 1;
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) == 0x0a) count++;
  // A line feed ends the last line and begins no other.
  return text.endsWith("\n") ? count - 1 : count;
}

function words(text: string): i32 {
  let count = 0;
  let isWithin = false;
  for (let at = 0; at < text.length; at++) {
    const isBlank = isSpace(text.charCodeAt(at));
    if (!isBlank && !isWithin) count++;
    isWithin = !isBlank;
  }
  return count;
}

/** Not of UTF-16: an emoji is one. */
function characters(text: string): i32 {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const isSecondHalf = (text.charCodeAt(at) & 0xfc00) == 0xdc00;
    if (!isSecondHalf) count++;
  }
  return count;
}

function isSpace(code: i32): bool {
  return code == 0x20 || (code >= 0x09 && code <= 0x0d) || code == 0xa0 || (code >= 0x2000 && code <= 0x200a) || code == 0x3000;
}
