/** Facts about a connection, computed once and cached as long as its socket lives. */
import { isIP, type Socket } from "node:net";
import type { ClientId } from "@svc/contract";
import ipaddr from "ipaddr.js";
import { mintAnonymousId } from "../identity.ts";

export class Peer {
  /** Canonical address of the other end; the unspecified address when the socket is gone already. */
  readonly address: string;
  readonly limiterKey: string;
  readonly isLoopback: boolean;
  readonly #onClosed: (tell: () => void) => void;
  #clientId: ClientId | undefined;

  /** `onClosed`: runs its argument once the connection is closed. */
  constructor(remoteAddress: string | undefined, onClosed: (tell: () => void) => void = () => {}) {
    this.#onClosed = onClosed;
    this.address = canonicalAddress(remoteAddress ?? "") ?? "::";
    this.limiterKey = limiterKey(this.address);
    this.isLoopback = isLoopback(this.address);
  }

  /** The identity of this connection for a caller without a token. `onGone` runs when the connection closes. */
  clientIdUntil(onGone: (clientId: ClientId) => void): ClientId {
    if (this.#clientId === undefined) {
      const clientId = mintAnonymousId();
      this.#clientId = clientId;
      this.#onClosed(() => onGone(clientId));
    }
    return this.#clientId;
  }
}

const peers = new WeakMap<Socket, Peer>();

export function peerOf(socket: Socket): Peer {
  let peer = peers.get(socket);
  if (peer === undefined) {
    // A link-local peer carries a zone (`fe80::1%eth0`), which says which of our own interfaces it came in by.
    peer = new Peer(socket.remoteAddress?.split("%", 1)[0], (tell) => socket.once("close", tell));
    peers.set(socket, peer);
  }
  return peer;
}

// IP addresses as text: one spelling for each, so that they compare, and the block a limiter counts by.

/**
 * The canonical spelling (RFC 5952; an IPv4-mapped IPv6 address becomes the IPv4 one), or undefined for anything else.
 * Zone ids and the legacy IPv4 forms (`127.1`, octal, hex) are no addresses here: two parsers could read them apart.
 */
export function canonicalAddress(text: string): string | undefined {
  const version = isIP(text);
  if (version === 4) return text;
  if (version === 0 || text.includes("%")) return undefined;
  return ipaddr.process(text).toString();
}

/** What a limiter counts by: an IPv4 address, or the /64 that one IPv6 subscriber can roam in at will. */
export function limiterKey(address: string): string {
  if (!address.includes(":")) return address;
  const network = ipaddr.IPv6.parse(address).parts.slice(0, 4);
  return `${network.map((part) => part.toString(16)).join(":")}::/64`;
}

/** 127.0.0.0/8, ::1, and the first in its IPv4-mapped form. Any other text is not loopback. */
export function isLoopback(text: string): boolean {
  const address = canonicalAddress(text);
  return address !== undefined && (address === "::1" || address.startsWith("127."));
}

/** Whether an address is in any of the blocks. */
export type AddressSet = (address: string) => boolean;

/** Blocks as `10.0.0.0/8`, `::1/128` or a bare address. Throws a plain `Error` that names the position, not the text. */
export function addressSet(blocks: readonly string[]): AddressSet {
  const ranges = blocks.map((block, index) => {
    try {
      return ipaddr.parseCIDR(block.includes("/") ? block : `${block}/${isIP(block) === 4 ? 32 : 128}`);
    } catch (cause) {
      throw new Error(`entry ${index + 1} is not an IP address or CIDR block`, { cause });
    }
  });
  return (text) => {
    const address = ipaddr.process(text);
    return ranges.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits));
  };
}
