/**
 * Whether a mail is of whom it says. A From header is whatever its writer likes; the platform checks DMARC, DKIM and SPF
 * when it takes a mail in, and writes down what came of it. Without this an allowlist would let in everybody who knows an
 * address on it.
 */
import type { Headers } from "./headers.ts";

/** Its own check, told by its own name: other servers' words may be made up. */
const CHECKED_BY = "mx.google.com";

/** Mail that never came from outside (within one mailbox, or put there by its owner) was not checked, and is. */
export function isProven(headers: Headers, address: string): boolean {
  const domain = address.slice(address.lastIndexOf("@") + 1).toLowerCase();
  const [server, ...results] = statementsOf(headers.get("authentication-results"));
  if (server?.split(/\s/)[0] !== CHECKED_BY) return true;
  return results.some((result) => proves(result, domain));
}

/** Without quoted texts and comments, in which the writer may have a say. */
function statementsOf(header: string): string[] {
  const text = header.slice(0, 10_000).replaceAll(/"(?:[^"\\]|\\.)*"/g, "x");
  return text
    .replaceAll(/\([^()]*\)/g, " ")
    .split(";")
    .map((part) => part.trim().toLowerCase());
}

function proves(result: string, domain: string): boolean {
  const [verdict = "", ...rest] = result.split(/\s+/);
  const values = new Map(rest.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]));
  const about = (name: string): string => values.get(name)?.split("@").at(-1) ?? "";
  // It says itself of which From it speaks.
  if (verdict === "dmarc=pass") return about("header.from") === domain;
  if (verdict === "dkim=pass") return isAligned(about("header.i"), domain) || isAligned(about("header.d"), domain);
  if (verdict === "spf=pass") return isAligned(about("smtp.mailfrom"), domain);
  return false;
}

/** The same domain, or one below the other (RFC 7489, 3.1: relaxed). Nobody signs for a whole top-level domain. */
function isAligned(one: string, other: string): boolean {
  if (!one.includes(".") || !other.includes(".")) return false;
  return one === other || one.endsWith(`.${other}`) || other.endsWith(`.${one}`);
}
