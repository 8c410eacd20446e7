/** Which hosts a page may come from, by their names; where a name leads is the guard's to find out. */
import { domainToASCII } from "node:url";
import ipaddr from "ipaddr.js";
import { isPublicAddress } from "../outgoing/address.ts";

/**
 * Whether `browser.allowed_domains` lists a host. `example.com` and `*.example.com` are that host and all below it, `*` is
 * every host. An address is only itself. An empty list lists no one.
 */
export function isAllowedHost(host: string, allowed: readonly string[]): boolean {
  const wanted = plainHost(host);
  return wanted !== undefined && allowed.some((entry) => matches(wanted, entry.trim()));
}

function matches(host: string, entry: string): boolean {
  if (entry === "*") return true;
  const domain = plainHost(entry.replace(/^\*\./, ""));
  if (domain === undefined) return false;
  if (host === domain) return true;
  return !isAddress(domain) && !isAddress(host) && host.endsWith(`.${domain}`);
}

/**
 * Whether a host is this machine or one of a private network, as its name or address says: loopback, private, link-local and
 * metadata addresses, multicast, documentation and reserved ones, and names that no public server can have. What can't be a
 * host's name counts as private.
 */
export function isPrivateHost(host: string): boolean {
  const name = plainHost(host);
  if (name === undefined) return true;
  if (isAddress(name)) return !isPublicAddress(name);
  return PRIVATE_SUFFIXES.some((suffix) => name === suffix || name.endsWith(`.${suffix}`));
}

/** RFC 6761, RFC 6762, RFC 8375, ICANN resolution 2024.07.29.06; and what routers and company networks use. */
const PRIVATE_SUFFIXES = [
  "localhost",
  "localdomain",
  "local",
  "internal",
  "intranet",
  "lan",
  "home.arpa",
  "home",
  "corp",
];

/**
 * A host as the URL parser spells it: lower case, punycode, an address in its usual form however it was written. No brackets, no
 * dot at the end. undefined: no host.
 */
function plainHost(text: string): string | undefined {
  const host = text.trim().replace(/^\[(.*)\]$/, "$1");
  if (host === "" || /[\s/@?#%\\]/.test(host)) return undefined;
  if (ipaddr.IPv6.isValid(host)) return new URL(`http://[${host}]`).hostname.slice(1, -1);
  const ascii = domainToASCII(host).replace(/\.$/, "");
  return ascii === "" || /[^a-z0-9._-]/.test(ascii) ? undefined : ascii;
}

const isAddress = (host: string): boolean => ipaddr.IPv4.isValidFourPartDecimal(host) || ipaddr.IPv6.isValid(host);
