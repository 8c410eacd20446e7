/** Words of the protocol: what a client sent, and what a server says. RFC 9051, 9. */

/** A text that quotes can't hold; binary, one character a byte. */
export const literal = (text: string): string => `{${text.length}}\r\n${text}`;

export const quoted = (text: string): string =>
  /[^ -~]/.test(text) ? literal(text) : `"${text.replaceAll(/["\\]/g, (character) => `\\${character}`)}"`;

export const nil = (text: string): string => (text === "" ? "NIL" : quoted(text));

/** A list is an array. `NIL` and atoms are as they stand there. */
export type Word = string | readonly Word[];

/** Throws where the brackets or quotes don't close. */
export function wordsOf(line: string): Word[] {
  let at = 0;
  const list = (isInner: boolean): Word[] => {
    const words: Word[] = [];
    for (;;) {
      while (line[at] === " ") at += 1;
      const character = line[at];
      if (character === undefined) {
        if (isInner) throw new Error("a list does not end");
        return words;
      }
      if (character === ")") {
        at += 1;
        return words;
      }
      if (character === "(") {
        at += 1;
        words.push(list(true));
      } else if (character === '"') words.push(string());
      else if (character === "{") words.push(counted());
      else words.push(atom());
    }
  };
  const string = (): string => {
    const match = /^"((?:[^"\\\r\n]|\\["\\])*)"/.exec(line.slice(at));
    if (match === null) throw new Error("a quoted string does not end");
    at += match[0].length;
    return (match[1] as string).replaceAll(/\\(.)/g, "$1");
  };
  const counted = (): string => {
    const match = /^\{(\d+)\+?\}\r\n/.exec(line.slice(at));
    if (match === null) throw new Error("that is no literal");
    const from = at + match[0].length;
    at = from + Number(match[1]);
    return line.slice(from, at);
  };
  const atom = (): string => {
    // A section has blanks and brackets of its own: BODY.PEEK[HEADER.FIELDS (DATE)]<0.10>
    const match = /^(?:[^\s()[\]"{]+(?:\[[^\]]*\](?:<[\d.]+>)?)?)/.exec(line.slice(at));
    if (match === null) throw new Error("that is no atom");
    at += match[0].length;
    return match[0];
  };
  return list(false);
}

/** `1:3,7,9:*`; `*` is `last`. */
export function isInSet(set: string, number: number, last: number): boolean {
  return set.split(",").some((range) => {
    const [from = 0, to = from] = range.split(":").map((end) => (end === "*" ? last : Number(end)));
    return number >= Math.min(from, to) && number <= Math.max(from, to);
  });
}
