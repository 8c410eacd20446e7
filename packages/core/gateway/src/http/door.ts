/** The checks that come before any route: one Host, a Host that is served, an Origin that may ask. */
import type { IncomingMessage } from "node:http";
import type { HostRules } from "../net/host-rules.ts";
import { errorReply, type Reply } from "./reply.ts";

/** Paths that strangers call by whatever name they know us by, and that no browser is asked to call. */
export interface OpenPaths {
  has(path: string): boolean;
}

/** Where the request is going, or why it goes nowhere. `open`: beside /health. */
export function enter(incoming: IncomingMessage, rules: HostRules, open: OpenPaths): { readonly path: string } | Reply {
  const { host, origin } = incoming.headers;
  const target = incoming.url ?? "";
  if (target.startsWith("/")) {
    const query = target.indexOf("?");
    const path = query < 0 ? target : target.slice(0, query);
    if (path === "/health" || open.has(path)) return { path };
    if (host === undefined) return errorReply(incoming.httpVersion === "1.0" ? "BAD_HOST" : "BAD_REQUEST");
    if (isRepeated(incoming)) return errorReply("BAD_REQUEST");
    if (!rules.allowsHost(host)) return errorReply("BAD_HOST");
    if (origin !== undefined && !rules.allowsOrigin(origin)) return errorReply("BAD_ORIGIN");
    return { path };
  }
  // The absolute form is for proxies, but RFC 9112 section 3.2.2 wants it understood; its authority beats the Host.
  const absolute = /^https?:\/\/([^/?#]+)(\/[^#]*|)$/i.exec(target);
  if (!absolute?.[1]) return errorReply("BAD_REQUEST");
  if (!rules.allowsHost(absolute[1])) return errorReply("BAD_HOST");
  incoming.url = absolute[2] || "/";
  return enter(incoming, rules, open);
}

/**
 * Whether there are two Hosts or two Authorizations. Node keeps the first of two; a proxy in front may have gone by the
 * second. (RFC 9112 section 3.2 allows only one Host; HTTP/1.0 has none and so names no served host.)
 */
function isRepeated(incoming: IncomingMessage): boolean {
  const raw = incoming.rawHeaders;
  let hosts = 0;
  let authorities = 0;
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index]!;
    if (name.length === 4 && name.toLowerCase() === "host") hosts += 1;
    else if (name.length === 13 && name.toLowerCase() === "authorization") authorities += 1;
  }
  return hosts > 1 || authorities > 1;
}
