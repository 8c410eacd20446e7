/** The checks that come before any route: one Host, a Host that is served, an Origin that may ask. */
import type { IncomingMessage } from "node:http";
import type { HostRules } from "../net/host-rules.ts";
import { errorReply, type Reply } from "./reply.ts";

/** Where the request is going, or why it goes nowhere. */
export function enter(incoming: IncomingMessage, rules: HostRules): { readonly path: string } | Reply {
  const { host, origin } = incoming.headers;
  const target = incoming.url ?? "";
  if (target.startsWith("/")) {
    const query = target.indexOf("?");
    const path = query < 0 ? target : target.slice(0, query);
    if (path === "/health") return { path };
    if (host === undefined || hasSecondHost(incoming)) return refuseHost(incoming, host);
    if (!rules.allowsHost(host)) return errorReply("BAD_HOST");
    if (origin !== undefined && !rules.allowsOrigin(origin)) return errorReply("BAD_ORIGIN");
    return { path };
  }
  // The absolute form is for proxies, but RFC 9112 section 3.2.2 wants it understood; its authority beats the Host.
  const absolute = /^https?:\/\/([^/?#]+)(\/[^#]*|)$/i.exec(target);
  if (!absolute?.[1]) return errorReply("BAD_REQUEST");
  if (!rules.allowsHost(absolute[1])) return errorReply("BAD_HOST");
  incoming.url = absolute[2] || "/";
  return enter(incoming, rules);
}

/** HTTP/1.1 demands a Host and allows only one (RFC 9112 section 3.2); HTTP/1.0 has none and so names no served host. */
function refuseHost(incoming: IncomingMessage, host: string | undefined): Reply {
  return errorReply(host === undefined && incoming.httpVersion === "1.0" ? "BAD_HOST" : "BAD_REQUEST");
}

/** Node keeps the first of two; a proxy in front may have routed by the second. */
function hasSecondHost(incoming: IncomingMessage): boolean {
  const raw = incoming.rawHeaders;
  let seen = 0;
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index];
    if (name?.length === 4 && name.toLowerCase() === "host") seen += 1;
  }
  return seen > 1;
}
