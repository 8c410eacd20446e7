/** Whether a page, or a part of one, may come from an address: first by the list, then by where its name leads. */
import { SvcError } from "@svc/contract";
import { isPublicAddress, parseTarget } from "../outgoing/target.ts";
import { domainToASCII } from "node:url";
import ipaddr from "ipaddr.js";

export interface BrowserGuard {
  /**
   * The address as it may be opened; only its text is checked, not its DNS answer. http and https (ws, wss) without user names. Throws
   * DOMAIN_REFUSED, ADDRESS_REFUSED.
   */
  checkName(url: string): URL;
  /** The IP addresses to connect to, after one resolution. Throws the same, and REMOTE_UNREACHABLE. */
  check(url: string): Promise<readonly string[]>;
}

/** `resolve` is `FeatureContext.resolve`: it refuses private addresses but those of `security.net.allow_private`. */
export function browserGuard(
  allowedDomains: readonly string[],
  resolve: (url: string) => Promise<readonly string[]>,
): BrowserGuard {
  const checkName = (text: string): URL => {
    // ws and wss connect as http and https do.
    const { hostname } = parseTarget(text.replace(/^\s*ws(s?):/i, "http$1:"));
    if (allowedDomains.every((entry) => entry.trim() === "")) throw nothingAllowed();
    if (!isAllowedHost(hostname, allowedDomains)) throw domainRefused(hostname);
    return new URL(text.trim());
  };
  return {
    checkName,
    async check(text) {
      const url = checkName(text);
      const addresses = await resolve(`${url.protocol}//${url.host}/`).catch((error: unknown) => {
        throw isAddressRefused(error) ? addressRefused(url.hostname) : error;
      });
      // A private name that leads to a public address is some resolver's invention. One that leads to a private address got here
      // because security.net.allow_private has it.
      if (isPrivateHost(url.hostname) && addresses.every(isPublicAddress)) throw addressRefused(url.hostname);
      return addresses;
    },
  };
}

const isAddressRefused = (error: unknown): boolean => error instanceof SvcError && error.code === "ADDRESS_REFUSED";

const nothingAllowed = (): SvcError =>
  new SvcError("DOMAIN_REFUSED", "The browser has no allowed_domains configured, and so opens no page.", {
    hint: "An operator lists the hosts that pages may come from in browser.allowed_domains.",
  });

/** `host`: as the URL parser spells it. */
const domainRefused = (host: string): SvcError =>
  new SvcError("DOMAIN_REFUSED", `browser.allowed_domains does not list the host ${shownHost(host)}.`, {
    hint: "Only an operator can add it; do not look for a way around.",
  });

const addressRefused = (host: string): SvcError =>
  new SvcError(
    "ADDRESS_REFUSED",
    `The host ${shownHost(host)} is at a private, loopback, link-local or reserved address, and such addresses are refused.`,
    { hint: "To allow exactly this service, an operator adds its host:port to security.net.allow_private." },
  );

/** The model reads host names: invalid characters are removed, and a name long enough to hold a message is cut. */
export function shownHost(host: string): string {
  const plain = host.replaceAll(/[^a-z0-9.:[\]_-]/gi, "");
  return plain.length <= MAX_HOST_CHARS ? plain : `${plain.slice(0, MAX_HOST_CHARS)}…`;
}

const MAX_HOST_CHARS = 100;

// Which hosts a page may come from, by their names; where a name leads is the guard's to find out.

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
