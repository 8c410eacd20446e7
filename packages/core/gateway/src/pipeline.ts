/**
 * How a request passes the checks of its group. `app.ts` lists the checks in order; the first one that refuses decides:
 *
 *   before → body: too large 413, no memory left 503, draining 503 → after → handle → settled
 *
 * A request costs one `Exchange` and, where it has a body, one async function.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { type Duplicate, IdempotencyKey } from "@svc/api";
import { WEBHOOK_TOLERANCE_SECS } from "@svc/kit";
import * as v from "valibot";
import { type ClientId, type Clock, type Logger, SvcError } from "@svc/contract";
import type { Device, IdempotencyClaim } from "@svc/store";
import {
  type Authenticator,
  type Credentials,
  type DeviceConnections,
  type Need,
  type Principal,
  openExchange,
} from "./auth/authenticator.ts";
import {
  MEMORY_FULL,
  type MemoryBudget,
  declaredBytes,
  readBody,
  refuseContentType,
  targetOf,
} from "./http/request.ts";
import { Reply, errorReply, jsonReply } from "./http/reply.ts";
import type { Send } from "./http/send.ts";
import {
  type Client,
  type ClientResolver,
  type Peer,
  type SlidingWindow,
  hasForwardingHeader,
  isLoopback,
} from "./client.ts";
import { isOwnPage } from "./auth/page-sessions.ts";
import { isIPv4, isIPv6 } from "node:net";
import { LinkedList } from "@svc/runtime";
import type { CancelSignal } from "@svc/agent";

/** Answers at once, or sends later through the response it was handed. */
export type Handle = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  peer: Peer,
  path: string,
) => Reply | undefined;

/** Whom a turn or a run is started for. */
export interface Caller {
  /** Keys tool state: the device's, or the connection's for a caller without a token. */
  readonly clientId: ClientId;
  /** Keys sessions and idempotency: the device's, or the namespace that callers without a token share. */
  readonly owner: ClientId;
  /** The authenticated device, if any: revoking it ends the exchange. */
  readonly device?: Device;
}

/** One request on its way through a group's checks, and what they found out. Each field names the check that sets it. */
export class Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly peer: Peer;
  readonly path: string;
  body: Buffer = EMPTY;
  /** `rateLimit` */
  client!: Client;
  /** `WebhookAdmission.caller` */
  caller!: Caller;
  /** `bearer` */
  principal: Principal | undefined = undefined;
  /** `WebhookAdmission.signature`: the webhook-id of a request that had to be signed, and is. */
  signedId: string | undefined = undefined;
  /** `Webhook.message` */
  text = "";
  /** `Webhook.session` */
  session: string | undefined = undefined;
  /** `idempotencyKey` */
  claim: IdempotencyClaim | undefined = undefined;

  constructor(incoming: IncomingMessage, outgoing: ServerResponse, peer: Peer, path: string) {
    this.incoming = incoming;
    this.outgoing = outgoing;
    this.peer = peer;
    this.path = path;
  }
}

const EMPTY: Buffer = Buffer.alloc(0);

/** Why the request goes no further; undefined: it passes. */
export type Check = (exchange: Exchange) => Reply | undefined;

export interface RouteGroup {
  /** Run before any byte of the body is read. */
  readonly before: readonly Check[];
  /** Without it no body is read. */
  readonly body?: {
    readonly maxBytes: number;
    /** Of bodies that may be large. */
    readonly memory?: MemoryBudget;
  };
  readonly after?: readonly Check[];
  /** Undefined: it has answered by itself. */
  readonly handle: (exchange: Exchange) => Reply | Promise<Reply> | undefined;
  /** The reply to what `after` or `handle` threw. Without it: 500, and a line in the log. */
  readonly failed?: (error: unknown, exchange: Exchange) => Reply;
  /** Called with the reply before it is sent, for requests whose body was read. */
  readonly settled?: (exchange: Exchange, reply: Reply) => void;
}

export interface PipelineDeps {
  readonly send: Send;
  readonly log: Logger;
  readonly isDraining: () => boolean;
}

export function pipeline(group: RouteGroup, deps: PipelineDeps): Handle {
  return group.body === undefined ? withoutBody(group, deps) : withBody(group, group.body, deps);
}

function withoutBody({ before, handle }: RouteGroup, { send }: PipelineDeps): Handle {
  return (incoming, outgoing, peer, path) => {
    const exchange = new Exchange(incoming, outgoing, peer, path);
    const reply = refusalOf(before, exchange) ?? handle(exchange);
    if (!(reply instanceof Promise)) return reply;
    void reply.then((late) => send(incoming, outgoing, late));
    return undefined;
  };
}

function withBody(group: RouteGroup, limits: NonNullable<RouteGroup["body"]>, deps: PipelineDeps): Handle {
  const { before, after = [], handle, failed, settled } = group;
  const { maxBytes, memory } = limits;
  const { send, log, isDraining } = deps;

  const answer = async (exchange: Exchange): Promise<Reply> => {
    try {
      return refusalOf(after, exchange) ?? (await handle(exchange))!;
    } catch (error) {
      if (failed === undefined) throw error;
      return failed(error, exchange);
    }
  };

  const receive = async (exchange: Exchange): Promise<void> => {
    const { incoming, outgoing } = exchange;
    try {
      const read = memory ? readBody(incoming, outgoing, maxBytes, memory) : readBody(incoming, outgoing, maxBytes);
      const body = await read;
      // Answered already: the device was revoked while its message came in, and must not have a turn for it.
      if (body === "gone" || outgoing.headersSent) return;
      if (body === "too-large") return send(incoming, outgoing, errorReply("TOO_LARGE"));
      if (body === "memory-full") return send(incoming, outgoing, MEMORY_FULL);
      // The shutdown may have begun while the body came in, and waits for no turn that begins after it.
      if (isDraining()) return send(incoming, outgoing, errorReply("DRAINING"));
      exchange.body = body;
      const reply = await answer(exchange);
      settled?.(exchange, reply);
      send(incoming, outgoing, reply);
    } catch (error) {
      log.error("a request failed unexpectedly", { cause: error instanceof Error ? error.message : "unknown" });
      send(incoming, outgoing, errorReply("INTERNAL"));
    }
  };

  return (incoming, outgoing, peer, path) => {
    const exchange = new Exchange(incoming, outgoing, peer, path);
    const refusal = refusalOf(before, exchange);
    if (refusal !== undefined) return refusal;
    void receive(exchange);
    return undefined;
  };
}

function refusalOf(checks: readonly Check[], exchange: Exchange): Reply | undefined {
  for (const check of checks) {
    const refusal = check(exchange);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

// Checks that several groups of routes share. `app.ts` says which group has which, and in which order.

/** 429. Counts by the client, which it finds out. */
export const rateLimit =
  (limit: SlidingWindow, clientOf: ClientResolver, clock: Clock): Check =>
  (exchange) => {
    const client = clientOf(exchange.incoming.headers, exchange.peer);
    exchange.client = client;
    const waitMs = limit.take(client.limiterKey, clock.monotonic());
    return waitMs > 0 ? errorReply("RATE_LIMITED", { retryAfterMs: waitMs }) : undefined;
  };

/** 429 LOCKED_OUT, 401, 403: a token, or the sign-in of a page. */
export const bearer =
  (
    authenticator: Authenticator,
    clientOf: ClientResolver,
    need: Need,
    credentialsOf: (headers: IncomingHttpHeaders) => Credentials = (headers) => headers,
  ): Check =>
  (exchange) => {
    const { headers } = exchange.incoming;
    const found = authenticator.require(credentialsOf(headers), clientOf(headers, exchange.peer), need);
    if (found instanceof Reply) return found;
    exchange.principal = found;
    return undefined;
  };

/** 415 unless the body is JSON. */
export const jsonContentType: Check = ({ incoming }) => refuseContentType(incoming.headers);

/** The same where a body may be missing. */
export const jsonContentTypeIfBody: Check = ({ incoming }) =>
  declaredBytes(incoming) > 0 ? refuseContentType(incoming.headers) : undefined;

/** 403 unless it comes from a program on this machine, by no proxy. */
export const localOnly =
  (rules: Pick<HostRules, "allowsOrigin">): Check =>
  ({ incoming: { headers }, peer }) =>
    isLocalOnly({ peerAddress: peer.address, headers }, rules) ? undefined : errorReply("NOT_LOCAL");

/** 403 unless a page of ours made the browser ask. */
export const ownPage: Check = ({ incoming }) => (isOwnPage(incoming.headers) ? undefined : errorReply("BAD_ORIGIN"));

/** Refuses nothing: from here on the request is answered 401 as soon as the caller's device is revoked. */
export const endsWithDevice =
  (connections: DeviceConnections, send: Send): Check =>
  ({ caller, incoming, outgoing }) => {
    if (caller.device) openExchange(connections, { device: caller.device }, send, incoming, outgoing);
    return undefined;
  };

// The host check, before any route: one Host, a Host that is served, an Origin and a site that may ask.

interface Paths {
  has(path: string): boolean;
}

interface HostCheckRules {
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

interface HostRulesOptions {
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

// "Only from this machine", for endpoints that would be open to the world behind a reverse proxy otherwise. A proxy that
// adds no header can't be told from a local caller, so nothing behind this gate may rely on it alone.

interface LocalOnlyRequest {
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

// Turns that requests started.

/** Shutdown waits for them; whether their client is still there is no matter. */
export class RunningTurns {
  readonly #running = new LinkedList<Running>();
  #whenIdle: (() => void)[] = [];

  get size(): number {
    return this.#running.size;
  }

  /**
   * Runs `turn` to its end. Its signal knows nothing of the connection: a client that hangs up must not undo a message
   * that was accepted.
   */
  async track<T>(turn: (signal: CancelSignal) => Promise<T>, deviceId?: string): Promise<T> {
    const running = new Running(deviceId);
    const link = this.#running.add(running);
    try {
      return await turn(running);
    } finally {
      this.#running.delete(link);
      if (this.#running.size === 0 && this.#whenIdle.length > 0)
        for (const resolve of this.#whenIdle.splice(0)) resolve();
    }
  }

  /** Resolves when no turn runs. */
  idle(): Promise<void> {
    return this.#running.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  /** Aborts the turns of a device that may no longer have any. */
  abortOf(deviceId: string, reason: SvcError): void {
    for (const running of this.#running.items()) if (running.deviceId === deviceId) running.abort(reason);
  }

  abortAll(): void {
    const reason = new SvcError("TURN_CANCELLED", "The service shut down before the turn ended.");
    for (const running of this.#running.items()) running.abort(reason);
  }
}

/** A turn with its signal. A class, as a link of a list is (`LinkedList`): an object literal would keep its turn in memory. */
class Running implements CancelSignal {
  /** The device that sent the message, if one did. */
  readonly deviceId: string | undefined;
  aborted = false;
  reason: unknown = undefined;
  /** The turn itself listens, and nothing else. */
  #onAbort: (() => void) | undefined = undefined;

  constructor(deviceId: string | undefined) {
    this.deviceId = deviceId;
  }

  addEventListener(_type: "abort", listener: () => void): void {
    this.#onAbort = listener;
  }

  removeEventListener(): void {
    this.#onAbort = undefined;
  }

  abort(reason: SvcError): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    this.#onAbort?.();
  }
}

// Repeated requests, found by the sender's idempotency key and by the id of a signed request.

export interface IdempotencyStore {
  /** A key that runs or is stored within its TTL is a duplicate. Otherwise it is claimed, for the turn to settle. */
  claim(claim: IdempotencyClaim): "new" | "duplicate";
  /** Inside a transaction: from then on the key is a duplicate, also after a restart. `workId`: the work it started. */
  keep(claim: IdempotencyClaim, workId: string, state: "done"): void;
  /** Ends the claim: from now on the stored state decides. */
  release(claim: IdempotencyClaim): void;
}

/** The answer to a request whose idempotency key, or whose webhook-id, was seen before. */
export const DUPLICATE_REPLY = jsonReply(200, {
  status: "duplicate",
  idempotent: true,
  message: "This request was already processed for this idempotency key.",
} satisfies Duplicate);

/** 400: `X-Idempotency-Key` is malformed. `keyOn`: the key as it is stored, for keys that are about one path. */
export const idempotencyClaim =
  (keyOn: (path: string, key: string) => string = (_path, key) => key): Check =>
  (exchange) => {
    const sent = idempotencyKey(exchange.incoming.headers["x-idempotency-key"]);
    if (sent instanceof Reply) return sent;
    const key = sent === undefined ? undefined : keyOn(exchange.path, sent);
    exchange.claim = claimOf(exchange.caller.owner, key, exchange.signedId);
    return undefined;
  };

/** 200 DUPLICATE. From here on the key is claimed. */
export const notDuplicate =
  (store: Pick<IdempotencyStore, "claim">): Check =>
  ({ claim }) =>
    claim && store.claim(claim) === "duplicate" ? DUPLICATE_REPLY : undefined;

/** `X-Idempotency-Key`. Undefined when it was not sent. */
export function idempotencyKey(value: IncomingHttpHeaders[string]): string | undefined | Reply {
  return value === undefined || v.is(IdempotencyKey, value) ? value : errorReply("BAD_IDEMPOTENCY_KEY");
}

/** An id must be remembered as long as its timestamp could still be fresh: from as far ahead to as far behind. */
export const REMEMBER_MS = 2 * WEBHOOK_TOLERANCE_SECS * 1000;

/**
 * The signed id is a key too, beside the sender's own: it outlives a restart, which the seen ids do not, and the
 * sender's own key is not signed, so an attacker who replays a request can change it. It is kept as long as its timestamp
 * can be fresh; with a shorter window the request could be replayed.
 */
export function claimOf(
  scope: ClientId,
  key: string | undefined,
  signed: string | undefined,
): IdempotencyClaim | undefined {
  if (signed === undefined) return key === undefined ? undefined : { scope, key };
  const id = `webhook-id:${signed}`;
  const minTtlMs = REMEMBER_MS;
  return key === undefined ? { scope, key: id, minTtlMs } : { scope, key, also: id, minTtlMs };
}
