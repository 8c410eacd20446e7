/** Everything below `/api/`, on hono: caller, scope, query, handler. What it does not know is 404 or 405 in our shape. */
import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type Context, Hono } from "hono";
import { type Logger, SvcError } from "@svc/contract";
import type { Device } from "@svc/store";
import type { Authenticator, Need } from "../auth/authenticator.ts";
import { openExchange } from "../auth/exchange.ts";
import type { Principal } from "../auth/principal.ts";
import type { Streams } from "../auth/streams.ts";
import { allowHeader, notAllowed } from "../http/listener.ts";
import { errorReply, optionsReply, Reply, replyToError } from "../http/reply.ts";
import type { Send } from "../http/send.ts";
import type { ClientResolver } from "../net/client.ts";
import { peerOf } from "../net/peer.ts";
import { type Fields, fieldsOf, queryOf } from "../routes/fields.ts";
import type { RouteSpec } from "../routes/spec.ts";
import { absentReply, FEATURE_DOWN, type FeaturePath } from "./feature-paths.ts";
import type { OpenDoor } from "./open-door.ts";

type ApiContext = Context<{ Bindings: HttpBindings }>;

export interface ApiRoute extends RouteSpec {
  readonly access: Need;
  /** Throws `SvcError` for what the caller did wrong. */
  handle(request: ApiRequest): Reply | Promise<Reply>;
}

/** One of a feature, which may be open to everybody. */
export interface AnyRoute extends RouteSpec {
  readonly access: Need | "open";
  /** False: it is answered 503, whoever asks. */
  isUp(): boolean;
  /** Throws `SvcError` for what the caller did wrong. */
  handle(request: AnyRequest): Reply | Promise<Reply>;
}

export interface ApiRequest extends AnyRequest {
  readonly device: Device;
  /** What is opened for it ends with it. */
  readonly principal: Principal;
}

export interface AnyRequest {
  /** undefined: a stranger, on a route that is open. */
  readonly principal: Principal | undefined;
  /** By `{name}` of the path. */
  readonly params: Readonly<Record<string, string>>;
  /** What the schemas make of the parameters they name. */
  readonly query: Fields;
  readonly env: HttpBindings;
  /** From here on the device's revocation does not end this request. */
  release(): void;
}

export interface ApiDeps {
  readonly authenticator: Authenticator;
  readonly openDoor: OpenDoor;
  /** By path. */
  readonly featurePaths: ReadonlyMap<string, FeaturePath>;
  /** False: the feature is on and gave up. */
  isUp(feature: string): boolean;
  readonly clientOf: ClientResolver;
  readonly streams: Streams;
  readonly send: Send;
  readonly log: Logger;
}

export function apiApp(routes: readonly (ApiRoute | AnyRoute)[], deps: ApiDeps): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  // Replies go out on Node's own response: the web Response would only be taken apart again.
  const sent = (context: ApiContext, reply: Reply): Response => {
    deps.send(context.env.incoming, context.env.outgoing, reply);
    return RESPONSE_ALREADY_SENT;
  };
  for (const route of routes) {
    app.on(route.method, pattern(route.path), async (context) => sent(context, await answer(route, context, deps)));
  }
  for (const [path, methods] of methodsByPath(routes)) {
    const allow = allowHeader(methods);
    const options = optionsReply(allow);
    const refused = notAllowed(allow);
    app.options(path, (context) => sent(context, options));
    app.all(path, (context) => sent(context, refused));
  }
  for (const [path, owner] of deps.featurePaths) {
    const absent = absentReply(owner, (feature) => deps.isUp(feature));
    app.all(pattern(path), (context) => sent(context, absent()));
  }
  app.notFound((context) => sent(context, errorReply("NOT_FOUND")));
  app.onError((error, context) => sent(context, failed(error, deps.log)));
  return app;
}

async function answer(route: ApiRoute | AnyRoute, context: ApiContext, deps: ApiDeps): Promise<Reply> {
  if ("isUp" in route && !route.isUp()) return FEATURE_DOWN;
  const { env } = context;
  const { incoming, outgoing } = env;
  const client = deps.clientOf(incoming.headers, peerOf(incoming.socket));
  const { access } = route;
  const principal =
    access === "open"
      ? deps.openDoor.admit(incoming.headers, client)
      : deps.authenticator.require(incoming.headers, client, access);
  if (principal instanceof Reply) return principal;
  const asked = { params: context.req.param(), query: fieldsOf(route.query, queryOf(incoming)), env };
  if (principal === undefined) return (route as AnyRoute).handle({ principal, ...asked, release: () => {} });
  const release = openExchange(deps.streams, principal, deps.send, incoming, outgoing);
  return route.handle({ device: principal.device, principal, ...asked, release });
}

function failed(error: unknown, log: Logger): Reply {
  const reply = replyToError(error);
  // A limit that does its work is no failure.
  const isBusy = error instanceof SvcError && error.code === "BUSY";
  if (reply.status >= 500 && !isBusy) {
    log.error("a request below /api failed", { cause: error instanceof Error ? error.message : "unknown" });
  }
  return reply;
}

/** `{name}` as hono writes it. */
const pattern = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ":$1");

function methodsByPath(routes: readonly RouteSpec[]): Map<string, string[]> {
  const byPath = new Map<string, string[]>();
  for (const { method, path } of routes) {
    const methods = byPath.get(pattern(path)) ?? [];
    methods.push(...(method === "GET" ? ["GET", "HEAD"] : [method]));
    byPath.set(pattern(path), methods);
  }
  return byPath;
}
