/** Takes secrets out of text that leaves the process: log lines, reasons of failed features. */
import { SecretPrint, formsOf } from "./secret-print.ts";

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
