import ipaddr from "ipaddr.js";

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
  return v6.range() === "unicast" && v6.match(GLOBAL_UNICAST, 3);
}

/** IANA hands out public IPv6 addresses from 2000::/3 only; ::/96 and the like are "unicast" to the library. */
const GLOBAL_UNICAST = ipaddr.IPv6.parse("2000::");

/** Metadata services with a public address: 168.63.129.16 answers inside one large cloud only. */
const PUBLIC_METADATA = new Set(["168.63.129.16"]);
