/** Phone numbers as the platform writes them. https://www.twilio.com/docs/glossary/what-e164 */
import { SvcError } from "@svc/contract";

export const E164 = /^\+[1-9][0-9]{6,14}$/;

/** Of what a person, or a model, wrote. Throws DELIVERY_REFUSED for what is no phone number. */
export function numberOf(text: string): string {
  const number = text.replaceAll(/[\s().-]/g, "");
  if (E164.test(number)) return number;
  throw new SvcError("DELIVERY_REFUSED", "This is no phone number that can be called.", {
    hint: "Write it with the country code, like +4915112345678.",
  });
}

/**
 * Numbers that stand for a caller who hides theirs: the words blocked, restricted, unknown, anonymous and unavailable on a
 * telephone's keys.
 */
const HIDDEN: ReadonlySet<string> = new Set(["+2562533", "+7378742833", "+8656696", "+266696687", "+86282452253"]);

export interface Person {
  /** As the allowlist compares: a number with `+`, or whatever the platform says instead of one. */
  readonly id: string;
  /** Whether they can be told from other people by it. */
  readonly isKnown: boolean;
}

/** `client:…`, `sip:…` and `anonymous` too. Undefined for what is none of the platform's. */
export function personOf(address: string | undefined): Person | undefined {
  if (address === undefined || !/^[\w+.:@-]{1,128}$/.test(address)) return undefined;
  if (HIDDEN.has(address) || /^(?:anonymous|restricted|unavailable|unknown|blocked)$/i.test(address)) {
    return { id: "anonymous", isKnown: false };
  }
  return { id: address, isKnown: true };
}
