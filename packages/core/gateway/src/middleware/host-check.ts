/** The checks that come before any route: one Host, a Host that is served, an Origin and a site that may ask. */
import type { IncomingMessage } from "node:http";
import { isIPv4, isIPv6 } from "node:net";
import { errorReply, type Reply } from "../http/reply.ts";
import { targetOf } from "../http/request.ts";

export interface Paths {
  has(path: string): boolean;
}

export interface HostCheckRules {
  readonly rules: HostRules;
  /** Paths that platforms call under any host name, and that browsers have no reason to call; `/health` is exempt too. */
  readonly open: Paths;
  /** Paths that a link on a page of another site may lead to. */
  readonly page: Paths;
}

/** Where the request is going (an empty path: nowhere), or why it is refused. */
export function hostCheck(incoming: IncomingMessage, { rules, open, page }: HostCheckRules): string | Reply {
  const target = targetOf(incoming);
  if (target === undefined) return errorReply("BAD_REQUEST");
  const { authority, path } = target;
  const { headers } = incoming;
  if (authority !== undefined && !rules.allowsHost(authority)) return errorReply("BAD_HOST");
  if (path === "/health" || open.has(path)) return path;
  const { host, origin } = headers;
  if (host === undefined) return errorReply(incoming.httpVersion === "1.0" ? "BAD_HOST" : "BAD_REQUEST");
  if (isRepeated(incoming)) return errorReply("BAD_REQUEST");
  if (!rules.allowsHost(host)) return errorReply("BAD_HOST");
  if (origin !== undefined && !rules.allowsOrigin(origin, authority ?? host)) return errorReply("BAD_ORIGIN");
  if (isFromElsewhere(incoming) && !(page.has(path) && isFollowedLink(incoming))) return errorReply("BAD_ORIGIN");
  return path;
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

// The Host and Origin rules. A page of any site can make a browser send requests here (DNS rebinding, forms, fetch), but
// it can't make the browser forge the Host it talks to or its own Origin.

export interface HostRules {
  /** Whether this `Host` (or the authority of an absolute request target) is served. */
  allowsHost(host: string): boolean;
  /**
   * Whether this `Origin` may send requests to this `Host`. `null` (sandboxed frames, files) never may. An address counts
   * only where it is the Host too: any machine of the network may have a page at an address and our port.
   */
  allowsOrigin(origin: string, host: string | undefined): boolean;
}

export interface HostRulesOptions {
  readonly allowedHosts: readonly string[];
  readonly publicUrl: string | undefined;
  /** The port listened on. */
  readonly port: number;
}

export function hostRules(options: HostRulesOptions): HostRules {
  const publicUrl = options.publicUrl === undefined ? undefined : new URL(options.publicUrl);
  const names = new Set(["localhost", ...options.allowedHosts.map((host) => splitHost(host)?.name ?? "")]);
  if (publicUrl) names.add(publicUrl.hostname);
  names.delete("");
  const publicPort = publicUrl && portOf(publicUrl.protocol, publicUrl.port);
  // Behind the proxy's port of `localhost` is another program of this machine, unless the public URL says so itself.
  const isPort = (name: string, port: number): boolean =>
    port === options.port || (port === publicPort && (name !== "localhost" || publicUrl?.hostname === "localhost"));

  const isServed = (host: string): boolean => {
    const parts = splitHost(host);
    return parts !== undefined && (parts.isLiteral || names.has(parts.name));
  };
  // Nearly every request of a connection names the same host: the last one that passed is remembered.
  let lastServed = "";
  return {
    allowsHost(host) {
      if (host === lastServed) return true;
      if (!isServed(host)) return false;
      lastServed = host;
      return true;
    },
    allowsOrigin(origin, host) {
      const [, scheme = "", authority = ""] = /^(https?:)\/\/([^/?#@\\]+)$/i.exec(origin) ?? [];
      const parts = splitHost(authority);
      if (!parts || !isServed(authority)) return false;
      if (parts.isLiteral && authority.toLowerCase() !== host?.toLowerCase()) return false;
      return isPort(parts.name, portOf(scheme.toLowerCase(), parts.port));
    },
  };
}

/** `name`, `name:port`, `1.2.3.4:port`, `[v6]:port`. Undefined for anything else, user names and blanks included. */
function splitHost(host: string): { name: string; port: string; isLiteral: boolean } | undefined {
  const bracketed = /^\[([^\]]+)\](?::(\d{1,5}))?$/.exec(host);
  if (bracketed?.[1]) {
    if (!isIPv6(bracketed[1]) || bracketed[1].includes("%")) return undefined;
    return { name: bracketed[1].toLowerCase(), port: bracketed[2] ?? "", isLiteral: true };
  }
  const plain = /^([a-z0-9._-]+)(?::(\d{1,5}))?$/i.exec(host);
  if (!plain?.[1]) return undefined;
  return { name: plain[1].toLowerCase(), port: plain[2] ?? "", isLiteral: isIPv4(plain[1]) };
}

const portOf = (protocol: string, port: string): number =>
  port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
