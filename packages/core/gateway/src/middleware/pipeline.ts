/**
 * How a request passes the checks of its group. `app.ts` lists the checks in order; the first one that refuses decides:
 *
 *   before → body: too large 413, no memory left 503, draining 503 → after → handle → settled
 *
 * A request costs one `Exchange` and, where it has a body, one async function.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { ClientId, Clock, Logger } from "@svc/contract";
import type { Device, IdempotencyClaim } from "@svc/store";
import {
  type Authenticator,
  type Credentials,
  type DeviceConnections,
  type Need,
  type Principal,
  openExchange,
} from "../auth/authenticator.ts";
import { MEMORY_FULL, type MemoryBudget, readBody, refuseContentType } from "../http/body.ts";
import { Reply, errorReply } from "../http/reply.ts";
import type { Send } from "../http/send.ts";
import { type Client, type ClientResolver, isLocalOnly } from "./client.ts";
import type { Peer } from "../http/connections.ts";
import { isOwnPage } from "../auth/page-sessions.ts";
import { declaredBytes } from "../http/request.ts";
import type { SlidingWindow } from "../rate-limit.ts";
import type { HostRules } from "./host-check.ts";

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
