/** Checks that several groups of routes share. `app.ts` says which group has which, and in which order. */
import type { IncomingHttpHeaders } from "node:http";
import type { Clock } from "@svc/contract";
import type { Authenticator, Credentials, Need } from "../auth/authenticator.ts";
import { type DeviceConnections, openExchange } from "../auth/device-connections.ts";
import { isOwnPage } from "../auth/page-sign-in.ts";
import { refuseContentType } from "../http/body.ts";
import { errorReply, Reply } from "../http/reply.ts";
import { declaredBytes } from "../http/request.ts";
import type { Send } from "../http/send.ts";
import type { SlidingWindow } from "../rate-limit.ts";
import { type ClientResolver, isLocalOnly } from "./client.ts";
import type { HostRules } from "./host-check.ts";
import type { Check } from "./pipeline.ts";

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
