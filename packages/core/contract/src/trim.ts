/**
 * A text without certain characters at its ends. As a regular expression, `/[ \t]+$/` looks for the end of the text from
 * each of them inside it: of 16 000 blanks in a header that is 128 million steps.
 */

/** `characters`: each of them, in any order; of one UTF-16 unit each. */
export function trimOf(text: string, characters: string): string {
  let start = 0;
  while (start < text.length && characters.includes(text.charAt(start))) start += 1;
  return trimEndOf(text.slice(start), characters);
}

export function trimEndOf(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}
