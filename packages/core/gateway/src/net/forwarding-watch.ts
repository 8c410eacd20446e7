/**
 * Forwarding headers that come while they are not trusted: a proxy is in front, and every client behind it shares one rate
 * limit and one lockout. Said once per start, and kept for `svc doctor`.
 */
import type { Logger } from "@svc/contract";
import type { Peer } from "./peer.ts";

export class ForwardingWatch {
  readonly #log: Logger;
  #said = false;
  #seen = false;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Since the headers were trusted last, or since the start. */
  get seen(): boolean {
    return this.#seen;
  }

  note(peer: Peer): void {
    this.#seen = true;
    if (this.#said) return;
    this.#said = true;
    this.#log.warn(
      "a request came with forwarding headers while gateway.trust_forwarded_headers is off: every client behind " +
        "that proxy shares one rate limit and one lockout",
      { from: peer.isLoopback ? "loopback" : "another machine" },
    );
  }

  /** The headers are trusted now: what was seen before is mended. */
  mended(): void {
    this.#seen = false;
  }
}
