/** Whose request this is, for limits and lockouts: the socket's peer, or whom a trusted proxy names. */
import type { IncomingHttpHeaders } from "node:http";
import { addressSet, limiterKey } from "./address.ts";
import { forwardedAddress, hasForwardingHeader } from "./forwarded.ts";
import type { ForwardingWatch } from "./forwarding-watch.ts";
import type { Peer } from "./peer.ts";

export interface Client {
  /** Canonical IP address. */
  readonly address: string;
  /** What limits count by: the address, IPv6 by /64; apart for addresses that a header named (see below). */
  readonly limiterKey: string;
  /**
   * The other end of the socket is this machine and nobody was named by a header. A header alone never makes a client
   * local: a proxy that passes a caller's own `X-Forwarded-For: 127.0.0.1` on would lift every lockout.
   */
  readonly isLoopback: boolean;
}

export type ClientResolver = (headers: IncomingHttpHeaders, peer: Peer) => Client;

export interface ClientResolverOptions {
  readonly trustForwardedHeaders: boolean;
  /** Peers whose headers count, as addresses or CIDR blocks. */
  readonly trustedProxies: readonly string[];
  /** Told of forwarding headers that are not trusted. */
  readonly watch: ForwardingWatch;
}

/** Throws a plain `Error` when a block of `trustedProxies` is malformed. */
export function clientResolver(options: ClientResolverOptions): ClientResolver {
  return options.trustForwardedHeaders ? trusting(options.trustedProxies) : distrusting(options.watch);
}

function trusting(trustedProxies: readonly string[]): ClientResolver {
  const isTrusted = addressSet(trustedProxies);
  return (headers, peer) => {
    const address = isTrusted(peer.address) ? forwardedAddress(headers) : undefined;
    if (address === undefined) return peer;
    // A count of its own: whoever can forge a header (every machine in a trusted range can) must not be able to lock out
    // those who connect directly.
    return { address, limiterKey: `forwarded ${limiterKey(address)}`, isLoopback: false };
  };
}

function distrusting(watch: ForwardingWatch): ClientResolver {
  return (headers, peer) => {
    if (!watch.seen && hasForwardingHeader(headers)) watch.note(peer);
    return peer;
  };
}
