/** Which client a request is from, for limits and lockouts: the socket's peer, or whom a trusted proxy names. */
import type { IncomingHttpHeaders } from "node:http";
import type { Logger } from "@svc/contract";
import { addressSet, canonicalAddress, isLoopback, limiterKey, type Peer } from "../http/connections.ts";
import type { HostRules } from "./host-check.ts";

export interface Client {
  /** Canonical IP address. */
  readonly address: string;
  /** What limits count by: the address, IPv6 by /64; apart for addresses that a header named (see below). */
  readonly limiterKey: string;
  /**
   * The other end of the socket is this machine and no header names another client. A header alone never makes a client
   * local: a proxy that forwards a caller's own `X-Forwarded-For: 127.0.0.1` would lift every lockout.
   */
  readonly isLoopback: boolean;
}

export type ClientResolver = (headers: IncomingHttpHeaders, peer: Peer) => Client;

export interface ClientResolverOptions {
  readonly trustForwardedHeaders: boolean;
  /** Peers whose headers count, as addresses or CIDR blocks. */
  readonly trustedProxies: readonly string[];
  /** Told of forwarding headers that are not trusted. */
  readonly watch: ForwardingMonitor;
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
    // Counted apart: a machine that can forge a header (every machine in a trusted range can) must not be able to lock out
    // clients that connect directly.
    return { address, limiterKey: `forwarded ${limiterKey(address)}`, isLoopback: false };
  };
}

function distrusting(watch: ForwardingMonitor): ClientResolver {
  return (headers, peer) => {
    if (!watch.seen && hasForwardingHeader(headers)) watch.note(peer);
    return peer;
  };
}

// Forwarding headers that come while they are not trusted: a proxy is in front, and every client behind it shares one rate
// limit and one lockout. Said once per start, and kept for `svc doctor`.

export class ForwardingMonitor {
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

  /** The headers are trusted now: what was seen before is of no matter. */
  reset(): void {
    this.#seen = false;
  }
}

// "Only from this machine", for endpoints that would be open to the world behind a reverse proxy otherwise. A proxy that
// adds no header can't be told from a local caller, so nothing behind this gate may rely on it alone.

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

// Headers in which reverse proxies name the origin of a request. Trusted only under the rules above.

/** Prefixes (the first word, or the second after `x-`) of headers that only proxies write. */
const FAMILIES: ReadonlySet<string> = new Set([
  // Every proxy: nginx and Traefik write X-Real-IP; IIS, ingress-nginx, HAProxy and Azure X-Original-URL, -Host, -To.
  "x-real",
  "x-original",
  "x-proxy",
  // RFC 8586 CDN-Loop; Bunny CDN-RequestId.
  "cdn",
  // Cloudflare, its Access and its tunnels: CF-Ray, CF-Connecting-IP, CF-Visitor.
  "cf",
  // Akamai: Akamai-Origin-Hop, X-Akamai-Edgescape.
  "akamai",
  "x-akamai",
  // Fastly-Client-IP, Fastly-FF.
  "fastly",
  // Fly-Client-IP, Fly-Region.
  "fly",
  // Azure Front Door X-Azure-ClientIP, X-FD-HealthProbe; App Gateway X-AppGW-Trace-Id; App Service X-ARR-SSL.
  "x-azure",
  "x-fd",
  "x-appgw",
  "x-arr",
  // AWS load balancers and API Gateway X-Amzn-Trace-Id, X-Amzn-Oidc-Data; CloudFront-Viewer-Address.
  "x-amzn",
  "cloudfront",
  // App Engine X-AppEngine-User-IP.
  "x-appengine",
  // Envoy, and with it Istio and Contour: X-Envoy-External-Address, X-Envoy-Original-Path.
  "x-envoy",
  // Kong X-Kong-Request-Id, Pomerium X-Pomerium-Jwt-Assertion.
  "x-kong",
  "x-pomerium",
  // Tailscale serve and funnel: Tailscale-User-Login.
  "tailscale",
  // ngrok-skip-browser-warning, Ngrok-Auth-User-Email.
  "ngrok",
  // Vercel X-Vercel-Forwarded-For, Netlify X-NF-Client-Connection-IP, Railway X-Railway-Edge.
  "x-vercel",
  "x-nf",
  "x-railway",
  // Sucuri X-Sucuri-ClientIP, Imperva Incap-Client-IP, Alibaba Ali-CDN-Real-IP, Tencent EO-Connecting-IP.
  "x-sucuri",
  "incap",
  "ali",
  "eo",
]);

/** The same, for names of a kind that programs on this machine may send too. */
const NAMES: ReadonlySet<string> = new Set([
  // RFC 9110 section 7.6.3.
  "via",
  // Sent by caches that know ESI: Varnish, Squid, Akamai.
  "surrogate-capability",
  "x-varnish",
  // Akamai and Cloudflare.
  "true-client-ip",
  // Amazon CloudFront, Google's load balancer and its identity-aware proxy.
  "x-amz-cf-id",
  "x-cloud-trace-context",
  "x-goog-iap-jwt-assertion",
  "x-goog-authenticated-user-email",
  "x-goog-authenticated-user-id",
  // App Service of Azure; WebLogic's plug-in for web servers.
  "client-ip",
  "disguised-host",
  "proxy-client-ip",
  "wl-proxy-client-ip",
  // Rackspace, Zeus, Apache's mod_remoteip, ingress-nginx, and older proxies.
  "x-client-ip",
  "x-cluster-client-ip",
  "x-originating-ip",
  "x-remote-addr",
  "x-remote-ip",
  "x-scheme",
  // Heroku's router, and proxies whose queue is measured.
  "x-request-start",
  "x-queue-start",
  // DigitalOcean, DDoS-Guard, Qrator, Zscaler.
  "do-connecting-ip",
  "ddg-connecting-ip",
  "x-qrator-ip-source",
  "z-forwarded-for",
  // Traefik's middlewares that change a path.
  "x-replaced-path",
]);

/** A longer chain is an attempt to make the daemon work, not a chain of proxies. */
const MAX_HOPS = 64;

/**
 * Whether a proxy gives itself away: then the socket's peer is not the caller. Names of requests and traces (X-Request-Id,
 * traceparent) are no sign of one, for programs on this machine send them too.
 */
export function hasForwardingHeader(headers: IncomingHttpHeaders): boolean {
  for (const name of Object.keys(headers)) if (isForwarding(name)) return true;
  return false;
}

/** A header's name, in lower case as Node has it. One pass over its characters: the sender chose them. */
function isForwarding(name: string): boolean {
  if (name.startsWith("forwarded") || name.startsWith("x-forwarded")) return true;
  if (NAMES.has(name)) return true;
  const end = name.indexOf("-", name.startsWith("x-") ? 2 : 0);
  return end > 0 && FAMILIES.has(name.slice(0, end));
}

/**
 * The address the nearest proxy saw: the RIGHTMOST valid hop of X-Forwarded-For, else X-Real-IP, else undefined. What
 * stands further left was sent by the caller and proves nothing.
 */
export function forwardedAddress(headers: IncomingHttpHeaders): string | undefined {
  return rightmostHop(single(headers["x-forwarded-for"])) ?? hopAddress(single(headers["x-real-ip"]));
}

function rightmostHop(list: string): string | undefined {
  let end = list.length;
  for (let hops = 0; end > 0 && hops < MAX_HOPS; hops += 1) {
    const comma = list.lastIndexOf(",", end - 1);
    const address = hopAddress(list.slice(comma + 1, end));
    if (address !== undefined) return address;
    end = comma;
  }
  return undefined;
}

/** One hop as proxies spell it: `ip`, `ip:port`, `[v6]`, `[v6]:port`, any of them in double quotes. */
export function hopAddress(text: string): string | undefined {
  let hop = text.trim();
  if (hop.length > 1 && hop.startsWith('"') && hop.endsWith('"')) hop = hop.slice(1, -1).trim();
  const parts = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(hop) ?? /^([\d.]+):\d{1,5}$/.exec(hop);
  return canonicalAddress(parts?.[1] ?? hop);
}

const single = (value: string | string[] | undefined): string =>
  value === undefined ? "" : typeof value === "string" ? value : value.join(",");
