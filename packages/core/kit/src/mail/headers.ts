/** Header fields of a mail or of one of its parts. */

export interface Headers {
  /** The first of this name, in any case; blank if missing. */
  get(name: string): string;
  has(name: string): boolean;
  /** All of this name, from the top: the last server that had the mail writes there. */
  all(name: string): readonly string[];
}

/** A value without its line breaks. */
export type HeaderField = readonly [name: string, value: string];

/** From the top; of more than `MAX_FIELDS` the others are left out. */
export function headersFrom(list: Iterable<HeaderField>): Headers {
  const fields = new Map<string, string[]>();
  let count = 0;
  for (const [name, value] of list) {
    if ((count += 1) > MAX_FIELDS) break;
    const key = name.toLowerCase();
    const values = fields.get(key);
    if (values === undefined) fields.set(key, [value]);
    else values.push(value);
  }
  const all = (name: string): readonly string[] => fields.get(name.toLowerCase()) ?? [];
  return { get: (name) => all(name)[0] ?? "", has: (name) => all(name).length > 0, all };
}

const MAX_FIELDS = 1000;

/** With encoded words as text (RFC 2047). */
export function readable(value: string): string {
  return value
    .replaceAll(/(\?=)\s+(?==\?)/g, "$1")
    .replaceAll(
      /=\?([\w-]{1,40})(?:\*[\w-]{1,20})?\?([bq])\?([^?\s]{0,1000})\?=/gi,
      (word, charset: string, how: string, text: string) => {
        const bytes = /b/i.test(how) ? Buffer.from(text, "base64") : quotedBytes(text);
        try {
          return new TextDecoder(charset).decode(bytes);
        } catch {
          return word;
        }
      },
    );
}

const quotedBytes = (text: string): Buffer =>
  Buffer.from(
    text
      .replaceAll("_", " ")
      .replaceAll(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  );

/** A header's parameter: `charset` of `text/plain; charset="utf-8"`. */
export function parameterOf(value: string, name: string): string | undefined {
  for (const part of value.slice(0, 2000).split(";").slice(1)) {
    const at = part.indexOf("=");
    if (at > 0 && part.slice(0, at).trim().toLowerCase() === name)
      return part
        .slice(at + 1)
        .trim()
        .replaceAll('"', "");
  }
  return undefined;
}

/**
 * A text for an outgoing header. Without line breaks, which would let the text inject headers (Bcc) or a body.
 */
export const headerText = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[\r\n]/g, "")
    .replaceAll(/\p{Cc}+/gu, " ");
