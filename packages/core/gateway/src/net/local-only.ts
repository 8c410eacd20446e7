/**
 * "Only from this machine", for endpoints that would be open to the world behind a reverse proxy otherwise. A proxy that
 * adds no header can't be told from a local caller, so nothing behind this gate may rely on it alone.
 */
import type { IncomingHttpHeaders } from "node:http";
import { isLoopback } from "./address.ts";
import { hasForwardingHeader } from "./forwarded.ts";
import type { HostRules } from "./host-rules.ts";

export interface LocalOnlyRequest {
  /** Address of the socket's peer; what a header says never counts. */
  readonly peerAddress: string;
  readonly headers: IncomingHttpHeaders;
}

/** The socket's peer is loopback AND no forwarding header is there AND the Origin, if sent, is our own. */
export function isLocalOnly(request: LocalOnlyRequest, rules: Pick<HostRules, "allowsOrigin">): boolean {
  if (!isLoopback(request.peerAddress) || hasForwardingHeader(request.headers)) return false;
  const { origin, host } = request.headers;
  return origin === undefined || rules.allowsOrigin(origin, host);
}
