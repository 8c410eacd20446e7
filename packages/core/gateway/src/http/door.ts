/** The checks that come before any route: one Host, a Host that is served, an Origin and a site that may ask. */
import type { IncomingMessage } from "node:http";
import type { HostRules } from "../net/host-rules.ts";
import { errorReply, type Reply } from "./reply.ts";
import { targetOf } from "./target.ts";

export interface Paths {
  has(path: string): boolean;
}

export interface DoorRules {
  readonly rules: HostRules;
  /** Paths that strangers call by whatever name they know us by, and that no browser is asked to call; beside `/health`. */
  readonly open: Paths;
  /** Paths that a link on a page of another site may lead to. */
  readonly page: Paths;
}

/** Where the request is going (an empty path: nowhere), or why it is refused. */
export function enter(incoming: IncomingMessage, { rules, open, page }: DoorRules): { readonly path: string } | Reply {
  const target = targetOf(incoming);
  if (target === undefined) return errorReply("BAD_REQUEST");
  const { authority, path } = target;
  const { headers } = incoming;
  if (authority !== undefined && !rules.allowsHost(authority)) return errorReply("BAD_HOST");
  if (path === "/health" || open.has(path)) return { path };
  const { host, origin } = headers;
  if (host === undefined) return errorReply(incoming.httpVersion === "1.0" ? "BAD_HOST" : "BAD_REQUEST");
  if (isRepeated(incoming)) return errorReply("BAD_REQUEST");
  if (!rules.allowsHost(host)) return errorReply("BAD_HOST");
  if (origin !== undefined && !rules.allowsOrigin(origin, authority ?? host)) return errorReply("BAD_ORIGIN");
  if (isFromElsewhere(incoming) && !(page.has(path) && isFollowedLink(incoming))) return errorReply("BAD_ORIGIN");
  return { path };
}

/**
 * Whether a page of another site, or of another port or name of this one, made a browser ask. `Sec-Fetch-Site` can't be left
 * out or made up by a page, and comes with requests that have no Origin. `none` is a person: an address typed, a bookmark.
 */
function isFromElsewhere({ headers }: IncomingMessage): boolean {
  const site = headers["sec-fetch-site"];
  return site !== undefined && site !== "same-origin" && site !== "none";
}

/** A window is about to show the answer; the page that has the link can't read it. */
function isFollowedLink({ method, headers }: IncomingMessage): boolean {
  return method === "GET" && headers["sec-fetch-mode"] === "navigate" && headers["sec-fetch-dest"] === "document";
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
