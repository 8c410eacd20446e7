/** The forms in which a secret turns up in a text. */

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
