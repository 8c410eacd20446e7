/**
 * Who may talk to the agent: the `allowed_*` lists of channels. `*` allows everyone; an empty list allows no one, so a
 * forgotten list never opens the door.
 */
import type { Logger } from "@svc/contract";

export type AllowMode = "exact" | "case_insensitive" | "email" | "phone";

/** Whether `user`, an id as the platform gave it, is on the list. */
export function isAllowed(allowed: readonly string[], user: string, mode: AllowMode): boolean {
  const matches = MATCHERS[mode];
  return allowed.some((entry) => entry === "*" || (entry.trim() !== "" && matches(entry.trim(), user)));
}

const MATCHERS: Readonly<Record<AllowMode, (entry: string, user: string) => boolean>> = {
  exact: (entry, user) => entry === user,
  case_insensitive: (entry, user) => foldAscii(entry) === foldAscii(user),
  email: matchesEmail,
  phone: (entry, user) => {
    const number = phoneDigits(user);
    return number !== undefined && number === phoneDigits(entry);
  },
};

/** ASCII only: Unicode folding maps look-alikes (the Kelvin sign becomes "k"), so one sender could pass as another. */
function foldAscii(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** An entry is an address, `@domain` or `domain`. A domain never covers its subdomains. */
function matchesEmail(entry: string, user: string): boolean {
  // One @ and nothing a header parser could split at: `x@evil.test,@example.com` must not end in an allowed domain.
  const address = /^[^\s@,;<>"()]+@([^\s@,;<>"()]+)$/.exec(foldAscii(user));
  if (!address) return false;
  const wanted = foldAscii(entry);
  if (wanted.startsWith("@")) return address[1] === wanted.slice(1);
  return wanted.includes("@") ? address[0] === wanted : address[1] === wanted;
}

/** `+` and digits are what counts; anything but the usual punctuation is no phone number. */
function phoneDigits(text: string): string | undefined {
  if (!/^\+?[0-9 .()/-]+$/.test(text.trim())) return undefined;
  const digits = text.replaceAll(/[^0-9]/g, "");
  return digits === "" ? undefined : digits;
}

export interface SenderGateOptions {
  readonly allowed: readonly string[];
  readonly mode: AllowMode;
  readonly log: Logger;
  readonly channel: string;
}

/** `isAllowed` that logs each refused sender once, so that a sender can't fill the log. */
export function senderGate({ allowed, mode, log, channel }: SenderGateOptions): (sender: string) => boolean {
  const named = new Set<string>();
  return (sender) => {
    if (isAllowed(allowed, sender, mode)) return true;
    const name = shortened(sender);
    if (named.has(name) || named.size > MAX_TOLD) return false;
    named.add(name);
    if (named.size > MAX_TOLD)
      log.info("more senders are not on the allowlist; they are not told any more", { channel });
    else log.info("a sender is not on the allowlist", { channel, sender: name });
    return false;
  };
}

/** Senders are made up in no time: neither the log nor the memory grows with them. */
const MAX_TOLD = 1000;

/** A copy: a slice would keep a whole megabyte in memory. Senders with the same beginning share one log line. */
function shortened(sender: string): string {
  return sender.length <= MAX_CHARS ? sender : `${Buffer.from(sender.slice(0, MAX_CHARS)).toString()}…`;
}

/** Longer than any phone number, address or user id. */
const MAX_CHARS = 320;

/** Tells of each name once, and of so many at most: senders are made up in no time. */
export function toldOnce(tell: (name: string) => void): (name: string) => void {
  const named = new Set<string>();
  return (name) => {
    if (named.has(name) || named.size >= MAX_TOLD) return;
    named.add(name);
    tell(name);
  };
}
