/** Which client a request is from, the socket's peer or whom a trusted proxy names, and how much each client may do. */
import type { IncomingHttpHeaders } from "node:http";
import type { ClientId, Clock, Logger } from "@svc/contract";
import { type Socket, isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { mintAnonymousId } from "./identity.ts";

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

// The other end of a connection.

/** Facts about a connection, computed once and cached as long as its socket lives. */
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

/** Names that nearly every request has. They need no look at their letters. */
const ORDINARY: ReadonlySet<string> = new Set([
  "host",
  "connection",
  "user-agent",
  "accept",
  "accept-encoding",
  "authorization",
  "content-type",
  "content-length",
  "x-session-id",
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
  if (ORDINARY.has(name)) return false;
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
type AddressSet = (address: string) => boolean;

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

// Limits of what clients can cause, all bounded in memory.

export interface SlidingWindowOptions {
  /** Events admitted per window and key; 0 admits everything and remembers nothing. */
  readonly limit: number;
  readonly windowMs: number;
  /** Most keys remembered; 0 means the default. */
  readonly maxKeys: number;
}

export const DEFAULT_MAX_KEYS = 10_000;

export const keyLimit = (configured: number): number => (configured > 0 ? configured : DEFAULT_MAX_KEYS);

/**
 * An exact sliding window per key: every admitted event is remembered until it is a window old, so no burst fits across
 * the edge of a fixed window. Refused events take no slot. Keys are bounded; the least recently active goes first.
 */
export class SlidingWindow {
  readonly #windowMs: number;
  #limit = 0;
  #maxKeys = 0;
  /** In order of activity, oldest first. */
  readonly #slots = new Map<string, Slots>();

  constructor(options: SlidingWindowOptions) {
    this.#windowMs = options.windowMs;
    this.configure(options);
  }

  /** From here on these hold; the slots that are taken stay taken. */
  configure({ limit, maxKeys }: Pick<SlidingWindowOptions, "limit" | "maxKeys">): void {
    this.#limit = limit;
    this.#maxKeys = keyLimit(maxKeys);
    if (limit === 0) this.#slots.clear();
    for (const oldest of this.#slots.keys()) {
      if (this.#slots.size <= this.#maxKeys) break;
      this.#slots.delete(oldest);
    }
  }

  /** Takes a slot at `atMs` (monotonic). 0: admitted. Else the milliseconds until a slot is free. */
  take(key: string, atMs: number): number {
    if (this.#limit === 0) return 0;
    const slots = this.#active(key);
    slots.dropUntil(atMs - this.#windowMs);
    // Of the newest `limit`, the oldest: a limit that was lowered leaves more slots taken than there are.
    if (slots.length >= this.#limit) return Math.max(1, slots.at(-this.#limit) + this.#windowMs - atMs);
    slots.push(atMs);
    return 0;
  }

  /** Keys remembered, least recently active first. */
  keys(): string[] {
    return [...this.#slots.keys()];
  }

  #active(key: string): Slots {
    let slots = this.#slots.get(key);
    if (slots) {
      this.#slots.delete(key);
    } else {
      slots = new Slots();
      if (this.#slots.size >= this.#maxKeys)
        for (const oldest of this.#slots.keys()) {
          this.#slots.delete(oldest);
          break;
        }
    }
    this.#slots.set(key, slots);
    return slots;
  }
}

/** Times in order. A plain array with a moving head: dropping from the front costs nothing until half is dead. */
class Slots {
  #times: number[] = [];
  #head = 0;

  get length(): number {
    return this.#times.length - this.#head;
  }

  get oldest(): number {
    return this.#times[this.#head] ?? 0;
  }

  at(index: number): number {
    return this.#times.at(index) ?? 0;
  }

  push(atMs: number): void {
    this.#times.push(atMs);
  }

  dropUntil(atMs: number): void {
    while (this.#head < this.#times.length && this.oldest <= atMs) this.#head += 1;
    if (this.#head > 16 && this.#head * 2 > this.#times.length) {
      this.#times = this.#times.slice(this.#head);
      this.#head = 0;
    }
  }
}

// Failures per client, and the time a client that failed too often has to wait. Keyed by the client alone, so that one
// client can't lock another out; bounded, so that made-up clients can't fill the memory.

interface LockoutOptions {
  /** Failures that lock a client out. */
  readonly maxFailures: number;
  /** Failures older than this count no more. */
  readonly windowMs: number;
  readonly lockoutMs: number;
  readonly maxKeys?: number;
}

interface Entry {
  readonly failures: number[];
  /** Monotonic end of the lockout; 0 without one. */
  lockedUntil: number;
}

export class Lockout {
  readonly #options: LockoutOptions;
  readonly #maxKeys: number;
  /** In order of activity, oldest first. */
  readonly #entries = new Map<string, Entry>();

  constructor(options: LockoutOptions) {
    this.#options = options;
    this.#maxKeys = keyLimit(options.maxKeys ?? 0);
  }

  /** Milliseconds until `key` may try again; 0 when it may now. */
  waitMs(key: string, nowMs: number): number {
    if (this.#entries.size === 0) return 0;
    const until = this.#entries.get(key)?.lockedUntil ?? 0;
    return until > nowMs ? until - nowMs : 0;
  }

  /** Counts a failure; true when it locks `key` out. */
  fail(key: string, nowMs: number): boolean {
    const entry = this.#take(key);
    // An expired lockout resets the count: its failures are punished already.
    if (entry.lockedUntil !== 0 && entry.lockedUntil <= nowMs) {
      entry.lockedUntil = 0;
      entry.failures.length = 0;
    }
    while (entry.failures[0] !== undefined && nowMs - entry.failures[0] >= this.#options.windowMs)
      entry.failures.shift();
    entry.failures.push(nowMs);
    if (entry.lockedUntil !== 0 || entry.failures.length < this.#options.maxFailures) return false;
    entry.lockedUntil = nowMs + this.#options.lockoutMs;
    return true;
  }

  /** Forgets the failures of a client that proved itself. */
  clear(key: string): void {
    this.#entries.delete(key);
  }

  get size(): number {
    return this.#entries.size;
  }

  #take(key: string): Entry {
    const known = this.#entries.get(key);
    if (known) this.#entries.delete(key);
    else if (this.#entries.size >= this.#maxKeys) {
      for (const oldest of this.#entries.keys()) {
        this.#entries.delete(oldest);
        break;
      }
    }
    const entry = known ?? { failures: [], lockedUntil: 0 };
    this.#entries.set(key, entry);
    return entry;
  }
}

// Log lines that clients can cause.

const EVERY_MS = 60_000;

/** Log lines that clients can cause: at most one a minute per subject, so that no client can fill the disk. */
export class ThrottledLog {
  readonly #clock: Clock;
  readonly #said = new Map<string, { atMs: number; times: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes that it happened, `times` over. How often since the last line when one is due, else 0. */
  note(subject = "", times = 1): number {
    const nowMs = this.#clock.monotonic();
    let said = this.#said.get(subject);
    if (said === undefined) this.#said.set(subject, (said = { atMs: -Infinity, times: 0 }));
    said.times += times;
    if (nowMs - said.atMs < EVERY_MS) return 0;
    const sum = said.times;
    said.atMs = nowMs;
    said.times = 0;
    return sum;
  }
}
