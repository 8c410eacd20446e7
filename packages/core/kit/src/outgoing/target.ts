/** Where a request may go: how its URL is spelled, where its name leads to, and which addresses are public. */
import { isIP, isIPv4 } from "node:net";
import { SvcError } from "@svc/contract";
import { FETCH_LIMITS, type GuardedFetchOptions, type Lookup, asHttp, exemptions } from "./guarded-fetch.ts";
import { lookup as systemLookup } from "node:dns/promises";
import ipaddr from "ipaddr.js";

/**
 * The URL of a request or of a redirect (`base`: the URL that redirected). Refuses URLs other than http(s), user names, and
 * hosts spelled so that a reader, a list and the resolver can understand different machines.
 */
export function parseTarget(text: string, base?: URL): URL {
  const trimmed = text.trim();
  if (trimmed.length > FETCH_LIMITS.urlChars) throw refused("The URL is too long.");
  // The URL parser drops tabs and newlines and reads \ as /; the checked URL must be the fetched URL.
  if (/[\\\p{Cc}]/u.test(trimmed)) throw refused("The URL contains control characters or backslashes.");
  if (!URL.canParse(trimmed, base?.href)) throw refused("This is not an absolute URL.");
  const url = new URL(trimmed, base?.href);
  if (url.protocol !== "http:" && url.protocol !== "https:") throw refused("Only http and https URLs are fetched.");
  if (url.username !== "" || url.password !== "") {
    throw refused("A URL with a user name or password in it is refused.", "Send credentials in a header instead.");
  }
  if (url.hostname === "" || url.hostname.endsWith(".")) throw refused("The URL's host is empty or ends with a dot.");
  if (url.port === "0") throw refused("Port 0 can't be connected to.");
  checkSpelling(trimmed, url);
  url.hash = "";
  return url;
}

/** `0x7f.1`, `2130706433`, `127.1` and `%31…` all become an IPv4 address: only the dotted form may be written. */
function checkSpelling(text: string, url: URL): void {
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(text)?.[0] ?? "";
  const rest = text.slice(scheme.length);
  if (scheme === "" && !rest.startsWith("//")) return; // a relative redirect: the host is the one checked before
  const authority = /^\/\/([^/?#]+)/.exec(rest)?.[1];
  if (authority === undefined) throw refused("The URL's host must follow two slashes.");
  const host = authority.replace(/:[0-9]*$/, "");
  if (isIPv4(url.hostname) && host !== url.hostname) throw refused("Write an IPv4 address as four decimal numbers.");
  if (/%/.test(host)) throw refused("A host is written without % signs.");
}

export function refused(message: string, hint?: string): SvcError {
  return new SvcError("ADDRESS_REFUSED", message, hint === undefined ? {} : { hint });
}

// Where a name leads to, and whether a connection may go there.

/** One refused address refuses the name: a DNS answer that mixes public and private addresses is an attack. */
export async function addressesOf(
  hostname: string,
  exempt: boolean,
  lookup: Lookup = resolve,
): Promise<readonly string[]> {
  const addresses = isIP(hostname) === 0 ? await lookup(hostname) : [hostname];
  if (addresses.length === 0) throw refused("The host has no address.");
  if (!exempt && !addresses.every(isPublicAddress)) {
    throw refused(
      "The host's address is private, loopback, link-local or reserved, and such addresses are refused.",
      "To allow exactly this service, add its host:port to security.net.allow_private.",
    );
  }
  return addresses;
}

/** `FeatureContext.resolve`. `ws`, `mqtt` and their like are to exemptions what `http` and `https` are. */
export function createGuardedResolve(
  options: Pick<GuardedFetchOptions, "allowPrivate" | "exempt" | "lookup">,
): (url: string) => Promise<readonly string[]> {
  const isExempt = exemptions(options.allowPrivate, options.exempt ?? []);
  return async (text) => {
    const { protocol, hostname, port } = parseTarget(asHttp(text));
    const host = hostname.replace(/^\[(.*)\]$/, "$1");
    try {
      return await addressesOf(host, isExempt(protocol, host, port), options.lookup);
    } catch (cause) {
      if (cause instanceof SvcError) throw cause;
      throw new SvcError("REMOTE_UNREACHABLE", "The host's name could not be resolved.", { cause });
    }
  };
}

const resolve: Lookup = async (hostname) =>
  (await systemLookup(hostname, { all: true, order: "verbatim" })).map((entry) => entry.address);

/**
 * Whether an address is a public unicast one. Everything that is not known to be is refused: private, loopback,
 * link-local, shared (CGNAT), multicast, documentation and reserved ranges, and every form that carries an IPv4 address
 * inside an IPv6 one (mapped, compatible, translated, NAT64, 6to4, Teredo), because the machine behind the translation
 * may be a private one.
 */
export function isPublicAddress(address: string): boolean {
  // A zone id (fe80::1%eth0) names an interface: never public, and not every parser rejects it.
  if (address.includes("%")) return false;
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) {
    const v4 = ipaddr.IPv4.parse(address);
    return v4.range() === "unicast" && !PUBLIC_METADATA.has(v4.toString());
  }
  if (!ipaddr.IPv6.isValid(address)) return false;
  const v6 = ipaddr.IPv6.parse(address);
  // IANA hands out public IPv6 addresses from 2000::/3 only; ::/96 and the like are "unicast" to the library.
  return v6.range() === "unicast" && v6.parts[0]! >> 13 === 1;
}

/** Metadata services with a public address: 168.63.129.16 answers inside one large cloud only. */
const PUBLIC_METADATA = new Set(["168.63.129.16"]);
