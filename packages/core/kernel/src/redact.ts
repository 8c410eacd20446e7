/** Takes secrets out of text that leaves the process: log lines, reasons of failed features. */

/** Stands for a secret. Of one length, so that it doesn't tell the secret's. */
export const DOTS = "••••••";

/**
 * A shorter secret stands in every other word: to take it out everywhere would leave no line that says anything, and with
 * each gap show where a letter of it stood.
 */
const LEAST_CHARS = 4;

/** Whether a secret, which is not blank, is taken out of no text. */
export const isTooShort = (secret: string): boolean => secret.trim().length < LEAST_CHARS;

export interface Redactor {
  /** Replaces the list; every later line is judged by it. Blank and too short entries are ignored. */
  setSecrets(secrets: readonly string[]): void;
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
/** RFC 6750 credentials. The words "bearer token" of our own sentences are no credential. */
const BEARER = /\b(bearer)\s+(?!tokens?(?![\w.~+/=-]))[^\s"',;]+/gi;

export function createRedactor(secrets: readonly string[] = []): Redactor {
  let forms = formsOf(secrets);
  let pattern = patternOf(forms);
  return {
    setSecrets: (list) => {
      forms = formsOf(list);
      pattern = patternOf(forms);
    },
    redact: (text) => redactPatterns(pattern === undefined ? text : text.replace(pattern, DOTS)),
    partial: (text) => Math.max(partialToken(text), ...forms.map((form) => overlap(text, form))),
  };
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
  return text.replace(PAIRING_TOKEN, DOTS).replace(BEARER, `$1 ${DOTS}`);
}

/**
 * One alternation for all, the longest first: a secret that contains another one must go as a whole, or its rest would
 * stay readable.
 */
function patternOf(forms: readonly string[]): RegExp | undefined {
  return forms.length === 0 ? undefined : new RegExp(forms.map((form) => RegExp.escape(form)).join("|"), "g");
}

/** Beside the secret itself the forms in which it turns up inside a longer text: quoted in JSON, in a URL. */
function formsOf(secrets: readonly string[]): string[] {
  const forms = new Set<string>();
  for (const secret of secrets) {
    if (isTooShort(secret)) continue;
    for (const form of [secret, secret.trim()]) {
      forms.add(form);
      forms.add(JSON.stringify(form).slice(1, -1));
      forms.add(encodeURIComponent(form.toWellFormed()));
      forms.add(new URLSearchParams([["", form]]).toString().slice(1));
    }
  }
  return [...forms].sort((a, b) => b.length - a.length);
}
