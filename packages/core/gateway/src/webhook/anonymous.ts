/** `gateway.require_pairing = false`: callers of `/webhook` without a token, and when even they are refused. */
import type { IncomingHttpHeaders } from "node:http";
import type { ClientId } from "@svc/contract";
import type { CoreConfig } from "@svc/kernel";
import { errorReply, type Reply } from "../http/reply.ts";
import { ANONYMOUS } from "../identity.ts";
import { hasForwardingHeader } from "../net/forwarded.ts";
import type { Peer } from "../net/peer.ts";
import type { Caller } from "./layers.ts";

export type AnonymousCallers = (headers: IncomingHttpHeaders, peer: Peer) => Caller | Reply;

/**
 * `isSecured`: a webhook secret or signing secret is configured, so a caller has something to prove after all. `onGone`: told of
 * each whose connection is closed.
 */
export function anonymousCallers(
  config: CoreConfig["gateway"],
  isSecured: boolean,
  onGone: (clientId: ClientId) => void,
): AnonymousCallers {
  return (headers, peer) => {
    if (!isSecured && config.require_signatures) return errorReply("BAD_WEBHOOK_SECRET");
    // Bound to loopback, yet this came through a proxy: the proxy would lend its place to the whole world.
    if (!isSecured && hasForwardingHeader(headers)) return errorReply("UNAUTHORIZED");
    return { clientId: peer.clientIdUntil(onGone), owner: ANONYMOUS };
  };
}

/** What to say about a `/webhook` that nothing secures. */
export const openWebhookWarning = (config: CoreConfig["gateway"]): string =>
  config.require_signatures
    ? "POST /webhook answers 401: pairing is off, no webhook secret is set and gateway.require_signatures is on"
    : "POST /webhook takes messages from every program on this machine: pairing is off and no webhook secret is set";
