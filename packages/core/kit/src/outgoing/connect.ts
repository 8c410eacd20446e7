import { lookup as systemLookup } from "node:dns/promises";
import { isIP } from "node:net";
import { buildConnector } from "undici";
import type { Logger } from "@svc/contract";
import { isPublicAddress } from "./address.ts";
import type { IsExempt } from "./exemptions.ts";
import type { Lookup } from "./guarded-fetch.ts";
import { refused } from "./target.ts";

/**
 * The check sits where sockets are made, so that no connection can miss it: the name is resolved once, every answer is
 * checked, and the socket goes to the very address that passed (a second resolution could answer differently: DNS
 * rebinding). A reused connection was checked when it was opened.
 */
export function guardedConnector(
  isExempt: IsExempt,
  lookup: Lookup | undefined,
  log: Logger,
): buildConnector.connector {
  const connect = buildConnector({ allowH2: false, timeout: CONNECT_TIMEOUT_MS });
  return (options, callback) => {
    const hostname = options.hostname.replace(/^\[(.*)\]$/, "$1");
    const exempt = isExempt(options.protocol, hostname, options.port);
    addressesOf(hostname, exempt, lookup ?? resolve).then(
      (addresses) => attempt(addresses, 0),
      (error: Error) => {
        log.debug("outgoing connection refused", { exempt });
        callback(error, null);
      },
    );

    function attempt(addresses: readonly string[], index: number): void {
      const last = index === addresses.length - 1;
      const target = { ...options, hostname: addresses[index] as string, ...serverName(hostname) };
      connect(target, (...outcome) => {
        if (outcome[0] && !last) attempt(addresses, index + 1);
        else callback(...outcome);
      });
    }
  };
}

/** For one address of several; the request's own time limit covers them all. */
const CONNECT_TIMEOUT_MS = 5000;

/** TLS checks the certificate against the name in the URL, never against the address. */
function serverName(hostname: string): { servername?: string } {
  return isIP(hostname) === 0 ? { servername: hostname } : {};
}

/** One refused answer among several refuses the name: whoever mixes them is trying for the private one. */
async function addressesOf(hostname: string, exempt: boolean, lookup: Lookup): Promise<readonly string[]> {
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

const resolve: Lookup = async (hostname) =>
  (await systemLookup(hostname, { all: true, order: "verbatim" })).map((entry) => entry.address);
