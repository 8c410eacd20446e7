/**
 * A secret that nothing needs as text any more, kept so that it can be recognised and not read: the SHA-256 of each form in
 * which it turns up, the length of that form, and a checksum that finds candidates in one pass over a text.
 */
import { nodeCrypto } from "../node-crypto.ts";

/** One form of the secret. */
interface Print {
  /** UTF-16 units. */
  readonly length: number;
  readonly checksum: number;
  /** SHA-256, hex. */
  readonly digest: string;
  /** Whether a blank is in it: one without can't reach over the last blank of a text. */
  readonly hasBlank: boolean;
}

/** Holds nothing of the secret that a hash does not tell. */
export class SecretPrint {
  readonly #prints: readonly Print[];

  constructor(secret: string) {
    this.#prints = formsOf(secret).map(printOf);
  }

  /** Where it stands in `text`, as [start, end). */
  find(text: string): [number, number][] {
    return this.#prints.flatMap((print) => occurrences(text, print));
  }

  /** How many characters at the end of `text` may be the beginning of it: never too few, often too many. */
  partial(text: string): number {
    return Math.max(0, ...this.#prints.map((print) => partialOf(text, print)));
  }
}

/** Odd, so that no character is lost modulo 2^32. */
const FACTOR = 0x01000193;

const step = (checksum: number, unit: number): number => (Math.imul(checksum, FACTOR) + unit) | 0;

function printOf(form: string): Print {
  let checksum = 0;
  for (let at = 0; at < form.length; at += 1) checksum = step(checksum, form.charCodeAt(at));
  return { length: form.length, checksum, digest: digestOf(form), hasBlank: /\s/.test(form) };
}

const digestOf = (text: string): string =>
  nodeCrypto().createHash("sha256").update(Buffer.from(text, "utf16le")).digest("hex");

/** The checksum of a window that moves one character at a time; SHA-256 decides about the few that it finds. */
function occurrences(text: string, { length, checksum, digest }: Print): [number, number][] {
  const found: [number, number][] = [];
  if (text.length < length) return found;
  let leaving = 1;
  for (let power = 1; power < length; power += 1) leaving = Math.imul(leaving, FACTOR);
  let window = 0;
  for (let end = 0; end < text.length; end += 1) {
    if (end >= length) window = (window - Math.imul(text.charCodeAt(end - length), leaving)) | 0;
    window = step(window, text.charCodeAt(end));
    const start = end + 1 - length;
    if (start >= 0 && window === checksum && digestOf(text.slice(start, end + 1)) === digest)
      found.push([start, end + 1]);
  }
  return found;
}

function partialOf(text: string, { length, hasBlank }: Print): number {
  const longest = Math.min(length - 1, text.length);
  if (hasBlank) return longest;
  let run = 0;
  while (run < longest && !isBlank(text[text.length - 1 - run]!)) run += 1;
  return run;
}

const isBlank = (character: string): boolean => /\s/.test(character);

// The forms in which a secret turns up in a text.

/**
 * A shorter secret stands in every other word: to take it out everywhere would leave no line that says anything, and with
 * each gap show where a letter of it stood.
 */
const LEAST_CHARS = 4;

/** Whether a secret, which is not blank, is taken out of no text. */
export const isTooShort = (secret: string): boolean => secret.trim().length < LEAST_CHARS;

/** Itself, and what it is inside a longer text: quoted in JSON, in a URL. None of one that is too short. */
export function formsOf(secret: string): string[] {
  if (isTooShort(secret)) return [];
  const forms = new Set<string>();
  for (const form of [secret, secret.trim()]) {
    forms.add(form);
    forms.add(JSON.stringify(form).slice(1, -1));
    forms.add(encodeURIComponent(form.toWellFormed()));
    forms.add(new URLSearchParams([["", form]]).toString().slice(1));
  }
  return [...forms];
}
