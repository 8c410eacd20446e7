import { isIP } from "node:net";
import { buildConnector } from "undici";
import type { Logger } from "@svc/contract";
import { addressesOf } from "./addresses.ts";
import type { IsExempt } from "./exemptions.ts";
import type { Lookup } from "./guarded-fetch.ts";

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
    addressesOf(hostname, exempt, lookup).then(
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
