/** Where a name leads to, and whether a connection may go there. */
import { lookup as systemLookup } from "node:dns/promises";
import { isIP } from "node:net";
import { SvcError } from "@svc/contract";
import { isPublicAddress } from "./address.ts";
import { type GuardedFetchOptions, type Lookup, asHttp, exemptions } from "./guarded-fetch.ts";
import { parseTarget, refused } from "./target.ts";

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
