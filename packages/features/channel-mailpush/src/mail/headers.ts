/** Header fields of a mail or of one of its parts. */
import * as v from "valibot";

export interface Headers {
  /** The first of this name, any case; blank when there is none. */
  get(name: string): string;
  has(name: string): boolean;
}

const holder = v.object({ headers: v.array(v.unknown()) });
const field = v.object({ name: v.string(), value: v.string() });

export function headersOf(part: unknown): Headers {
  const fields = new Map<string, string>();
  const parsed = v.safeParse(holder, part);
  for (const one of parsed.success ? parsed.output.headers.slice(0, MAX_FIELDS) : []) {
    const { success, output } = v.safeParse(field, one);
    if (success && !fields.has(output.name.toLowerCase())) fields.set(output.name.toLowerCase(), output.value);
  }
  return {
    get: (name) => fields.get(name.toLowerCase()) ?? "",
    has: (name) => fields.has(name.toLowerCase()),
  };
}

const MAX_FIELDS = 1000;

/** With encoded words as text (RFC 2047); the platform mostly shows them so by itself. */
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
 * A text for a header that we write. Whoever gets a line break into one writes headers of his own: Bcc, or the beginning of
 * another text.
 */
export const headerText = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[\r\n]/g, "")
    .replaceAll(/\p{Cc}+/gu, " ");
