/** Everything below `/api/`, on hono: caller, scope, query, handler. What it does not know is 404 or 405 in our shape. */
import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type Context, Hono } from "hono";
import type { Logger } from "@svc/contract";
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

type ApiContext = Context<{ Bindings: HttpBindings }>;

export interface ApiRoute extends RouteSpec {
  readonly access: Need;
  /** Throws `SvcError` for what the caller did wrong. */
  handle(request: ApiRequest): Reply | Promise<Reply>;
}

export interface ApiRequest {
  readonly device: Device;
  /** What is opened for it ends with it. */
  readonly principal: Principal;
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
  readonly clientOf: ClientResolver;
  readonly streams: Streams;
  readonly send: Send;
  readonly log: Logger;
}

export function apiApp(routes: readonly ApiRoute[], deps: ApiDeps): Hono<{ Bindings: HttpBindings }> {
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
  app.notFound((context) => sent(context, errorReply("NOT_FOUND")));
  app.onError((error, context) => sent(context, failed(error, deps.log)));
  return app;
}

async function answer(route: ApiRoute, context: ApiContext, deps: ApiDeps): Promise<Reply> {
  const { env } = context;
  const { incoming, outgoing } = env;
  const client = deps.clientOf(incoming.headers, peerOf(incoming.socket));
  const principal = deps.authenticator.require(incoming.headers, client, route.access);
  if (principal instanceof Reply) return principal;
  const release = openExchange(deps.streams, principal, deps.send, incoming, outgoing);
  const query = fieldsOf(route.query, queryOf(incoming));
  return route.handle({ device: principal.device, principal, params: context.req.param(), query, env, release });
}

function failed(error: unknown, log: Logger): Reply {
  const reply = replyToError(error);
  if (reply.status >= 500) {
    log.error("a request below /api failed", { cause: error instanceof Error ? error.message : "unknown" });
  }
  return reply;
}

/** `{name}` as hono writes it. */
const pattern = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ":$1");

function methodsByPath(routes: readonly ApiRoute[]): Map<string, string[]> {
  const byPath = new Map<string, string[]>();
  for (const { method, path } of routes) {
    const methods = byPath.get(pattern(path)) ?? [];
    methods.push(...(method === "GET" ? ["GET", "HEAD"] : [method]));
    byPath.set(pattern(path), methods);
  }
  return byPath;
}
