/** Takes secrets out of text that leaves the process: log lines, reasons of failed features. */

/** Stands for a secret. Of one length, so that it doesn't tell the secret's. */
export const DOTS = "••••••";

export interface Redactor {
  /** Replaces the list; every later line is judged by it. Blank entries are ignored. */
  setSecrets(secrets: readonly string[]): void;
  /** `text` without any configured secret, pairing token or bearer credential. */
  redact(text: string): string;
}

/** A pairing token of this product, wherever it stands. */
const PAIRING_TOKEN = /svc_[0-9a-f]{64}/gi;
/** RFC 6750 credentials. The words "bearer token" of our own sentences are no credential. */
const BEARER = /\b(bearer)\s+(?!tokens?(?![\w.~+/=-]))[^\s"',;]+/gi;

export function createRedactor(secrets: readonly string[] = []): Redactor {
  let pattern = patternOf(secrets);
  return {
    setSecrets: (list) => {
      pattern = patternOf(list);
    },
    redact: (text) => redactPatterns(pattern === undefined ? text : text.replace(pattern, DOTS)),
  };
}

/** Only what is recognisable without knowing a secret: pairing tokens and bearer credentials. */
export function redactPatterns(text: string): string {
  return text.replace(PAIRING_TOKEN, DOTS).replace(BEARER, `$1 ${DOTS}`);
}

/**
 * One alternation for all, the longest first: a secret that contains another one must go as a whole, or its rest would
 * stay readable. Beside the secret itself the forms in which it turns up inside a longer text: quoted in JSON, in a URL.
 */
function patternOf(secrets: readonly string[]): RegExp | undefined {
  const forms = new Set<string>();
  for (const secret of secrets) {
    const trimmed = secret.trim();
    if (trimmed === "") continue;
    for (const form of [secret, trimmed]) {
      forms.add(form);
      forms.add(JSON.stringify(form).slice(1, -1));
      forms.add(encodeURIComponent(form.toWellFormed()));
      forms.add(new URLSearchParams([["", form]]).toString().slice(1));
    }
  }
  if (forms.size === 0) return undefined;
  const longestFirst = [...forms].sort((a, b) => b.length - a.length);
  return new RegExp(longestFirst.map((form) => RegExp.escape(form)).join("|"), "g");
}
