/** Takes secrets out of text that leaves the process: log lines, reasons of failed features. */
import type { Json } from "@svc/contract";
import { nodeCrypto } from "../hashed-secret.ts";

/** Stands for a secret. Of one length, so that it doesn't tell the secret's. */
export const DOTS = "••••••";

/** A secret of the config: as text, or as what recognises it where the text is not kept. */
export type KnownSecret = string | SecretPrint;

export interface Redactor {
  /** Replaces the list; every later line is judged by it. Blank and too short entries are ignored. */
  setSecrets(secrets: readonly KnownSecret[]): void;
  /** `text` without any configured secret of four characters or more, pairing token or bearer credential. */
  redact(text: string): string;
  /**
   * How many characters at the end of `text` may be the beginning of a secret or of a pairing token. Who sends a text in
   * pieces holds so many back.
   */
  partial(text: string): number;
}

/** A pairing token of this product, wherever it stands. */
const PAIRING_TOKEN = /svc_[0-9a-f]{64}/gi;
const RECOGNISABLE = /svc_|bearer/i;
/** RFC 6750 credentials. The words "bearer token" of our own sentences are no credential. */
const BEARER = /\b(bearer)\s+(?!tokens?(?![\w.~+/=-]))[^\s"',;]+/gi;

export function createRedactor(secrets: readonly KnownSecret[] = []): Redactor {
  let forms = textForms(secrets);
  let pattern = patternOf(forms);
  let prints = secrets.filter((secret) => secret instanceof SecretPrint);
  return {
    setSecrets(list) {
      forms = textForms(list);
      pattern = patternOf(forms);
      prints = list.filter((secret) => secret instanceof SecretPrint);
    },
    redact(text) {
      const found = prints.flatMap((print) => print.find(text));
      if (found.length > 0) return redactPatterns(masked(text, [...found, ...matchesOf(text, pattern)]));
      return redactPatterns(pattern === undefined ? text : text.replace(pattern, DOTS));
    },
    partial: (text) =>
      Math.max(
        partialToken(text),
        ...forms.map((form) => overlap(text, form)),
        ...prints.map((print) => print.partial(text)),
      ),
  };
}

const matchesOf = (text: string, pattern: RegExp | undefined): [number, number][] =>
  pattern === undefined
    ? []
    : Array.from(text.matchAll(pattern), ({ index, 0: { length } }) => [index, index + length]);

/** Places that overlap go as one: of two secrets that share characters no rest stays. */
function masked(text: string, places: readonly (readonly [number, number])[]): string {
  let said = "";
  let at = 0;
  for (const [start, end] of places.toSorted((a, b) => a[0] - b[0] || b[1] - a[1])) {
    if (start >= at) said += `${text.slice(at, start)}${DOTS}`;
    at = Math.max(at, end);
  }
  return said + text.slice(at);
}

/** Length of the longest end of `text` that `form` begins with, the whole form excepted. */
function overlap(text: string, form: string): number {
  for (let length = Math.min(form.length - 1, text.length); length > 0; length -= 1) {
    if (text.endsWith(form.slice(0, length))) return length;
  }
  return 0;
}

const partialToken = (text: string): number =>
  /(?:s|sv|svc|svc_[0-9a-f]{0,63})$/i.exec(text.slice(-70))?.[0].length ?? 0;

/** Only what is recognisable without knowing a secret: pairing tokens and bearer credentials. */
export function redactPatterns(text: string): string {
  // One look at a text that has neither, as nearly all of them.
  return RECOGNISABLE.test(text) ? text.replace(PAIRING_TOKEN, DOTS).replace(BEARER, `$1 ${DOTS}`) : text;
}

/**
 * One alternation for all, the longest first: a secret that contains another one must go as a whole, or its rest would
 * stay readable.
 */
function patternOf(forms: readonly string[]): RegExp | undefined {
  return forms.length === 0 ? undefined : new RegExp(forms.map((form) => RegExp.escape(form)).join("|"), "g");
}

function textForms(secrets: readonly KnownSecret[]): string[] {
  const forms = new Set(secrets.flatMap((secret) => (typeof secret === "string" ? formsOf(secret) : [])));
  return [...forms].sort((a, b) => b.length - a.length);
}

// Takes secrets out of a value that is shown: to a model, in the journal, in a list of messages.

/** The same value when there is nothing to take out, which is found out without walking through it. */
export function redactJson(value: Json, redact: (text: string) => string): Json {
  if (typeof value === "string") return redact(value);
  if (value === null || typeof value === "boolean") return value;
  const text = JSON.stringify(value);
  return redact(text) === text ? value : walk(value, redact);
}

function walk(value: Json, redact: (text: string) => string): Json {
  if (typeof value === "string") return redact(value);
  // A PIN can stand there as a number.
  if (typeof value === "number") return redact(String(value)) === String(value) ? value : redact(String(value));
  if (Array.isArray(value)) return value.map((item: Json) => walk(item, redact));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [redact(key), walk(item, redact)]));
}

// A secret that nothing needs as text any more, kept so that it can be recognised and not read: the SHA-256 of each form in which it turns
// up, the length of that form, and a checksum that finds candidates in one pass over a text.

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
function formsOf(secret: string): string[] {
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
