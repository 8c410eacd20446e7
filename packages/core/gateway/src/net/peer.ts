/** What is known about a connection, worked out once and kept as long as its socket lives. */
import type { Socket } from "node:net";
import type { ClientId } from "@svc/contract";
import { mintClientId } from "../identity.ts";
import { canonicalAddress, isLoopback, limiterKey } from "./address.ts";

export class Peer {
  /** Canonical address of the other end; the unspecified address when the socket is gone already. */
  readonly address: string;
  readonly limiterKey: string;
  readonly isLoopback: boolean;
  readonly #onClosed: (tell: () => void) => void;
  #clientId: ClientId | undefined;

  /** `onClosed`: calls what it is given once the connection is closed. */
  constructor(remoteAddress: string | undefined, onClosed: (tell: () => void) => void = () => {}) {
    this.#onClosed = onClosed;
    this.address = canonicalAddress(remoteAddress ?? "") ?? "::";
    this.limiterKey = limiterKey(this.address);
    this.isLoopback = isLoopback(this.address);
  }

  /** The identity of this connection for a caller without a token. Once it is closed `onGone` is told that nobody has it any more. */
  clientIdUntil(onGone: (clientId: ClientId) => void): ClientId {
    if (this.#clientId === undefined) {
      const clientId = mintClientId();
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
