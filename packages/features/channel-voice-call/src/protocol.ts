/** Names of the channel, its public paths, and the platform's forms and phone numbers. */
import { SvcError } from "@svc/contract";

// Bodies of the platform's webhooks: `application/x-www-form-urlencoded`.

/** By name; a name that comes twice has several values. */
export type Form = ReadonlyMap<string, readonly string[]>;

/** More fields than any webhook of the platform has. A stranger's megabyte of them would cost a tenth of a second. */
const MOST_FIELDS = 200;

/** Undefined unless it is a form of the platform. */
export function formOf(body: Uint8Array): Form | undefined {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8");
  if (hasMoreThan(MOST_FIELDS, text)) return undefined;
  const form = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(text)) {
    const values = form.get(name);
    if (values) values.push(value);
    else form.set(name, [value]);
  }
  return form;
}

/** Undefined, too, for a blank one. */
export function fieldOf(form: Form, name: string): string | undefined {
  const value = form.get(name)?.[0]?.trim();
  return value === "" ? undefined : value;
}

function hasMoreThan(fields: number, text: string): boolean {
  let found = 0;
  for (let at = text.indexOf("&"); at >= 0; at = text.indexOf("&", at + 1)) {
    found += 1;
    if (found > fields) return true;
  }
  return false;
}

/** Phone numbers as the platform writes them. https://www.twilio.com/docs/glossary/what-e164 */
export const E164 = /^\+[1-9][0-9]{6,14}$/;

/** A phone number as a person, or a model, writes it. Throws DELIVERY_REFUSED for other text. */
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
  /** For the allowlist: a number with `+`, or the platform's substitute for one. */
  readonly id: string;
  /** Whether they can be told from other people by it. */
  readonly isKnown: boolean;
}

/** `client:…`, `sip:…` and `anonymous` too. Undefined for an invalid address. */
export function personOf(address: string | undefined): Person | undefined {
  if (address === undefined || !/^[\w+.:@-]{1,128}$/.test(address)) return undefined;
  if (HIDDEN.has(address) || /^(?:anonymous|restricted|unavailable|unknown|blocked)$/i.test(address)) {
    return { id: "anonymous", isKnown: false };
  }
  return { id: address, isKnown: true };
}

/** What this channel is called in conversations and in the log. */
export const CHANNEL = "voice_call";

/** Public paths; the manifest names them too. */
export const PATHS = {
  incoming: "/voice-call",
  next: "/voice-call/next",
  speech: "/voice-call/speech",
  status: "/voice-call/status",
  audio: "/voice-call/audio",
} as const;
