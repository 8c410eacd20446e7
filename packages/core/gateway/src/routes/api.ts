/** Everything below `/api/`, on hono. Loaded with the first request that needs it. */
import type { RequestListener } from "node:http";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { MessageAdmin } from "@svc/messaging";
import { type Logger, SvcError } from "@svc/contract";
import { type Context, Hono } from "hono";
import {
  type Authenticator,
  type DeviceConnections,
  type Devices,
  type PublicAccess,
  openExchange,
} from "../auth/authenticator.ts";
import type { PageSessions } from "../auth/page-sessions.ts";
import type { Pairing } from "../auth/pairing.ts";
import { allowHeader, errorReply, notAllowed, optionsReply, Reply, replyToError } from "../http/reply.ts";
import { queryOf } from "../http/request.ts";
import type { Send } from "../http/send.ts";
import { type ClientResolver, peerOf } from "../client.ts";
import type { WebPush } from "../web-push.ts";
import { approvalRoutes, type GatewayApprovals, type PolicyRules, policyRuleRoutes } from "./approvals.ts";
import {
  type GatewaySops,
  type SopEditorRouteDeps,
  auditRoutes,
  sopEditorRoutes,
  sopRoutes,
  sopRunRoutes,
} from "./sops.ts";
import { deviceRoutes, type PairingCodeDeps, pairingCodeRoutes } from "./devices.ts";
import { absentReply, FEATURE_DOWN, type FeaturePath } from "./features.ts";
import { inboxRoutes } from "./inbox.ts";
import { type OperationRouteDeps, operationRoutes } from "./operations.ts";
import { pushRoutes } from "./push.ts";
import { commandRoutes, reportRoutes, type Reports } from "./reports.ts";
import { type AnyRoute, type ApiRoute, type BodyLimits, fieldsOf, type RouteSpec } from "./route.ts";
import { type SessionRouteDeps, sessionRoutes } from "./sessions.ts";
import { type SettingsRouteDeps, settingsRoutes } from "./settings.ts";

export interface ApiRoutes {
  readonly core: CoreRouteDeps;
  readonly features: readonly AnyRoute[];
}

export function apiListener({ core, features }: ApiRoutes, deps: ApiDeps): RequestListener {
  const routes = [...coreRoutes(core), ...features];
  const adapted = getRequestListener(apiApp(routes, deps).fetch, {
    // The adapter's own Request and Response would replace the global ones, for every part of the process.
    overrideGlobalObjects: false,
    autoCleanupIncoming: false,
    // Called for a target that is no URL (a backslash in the path); answering nothing leaves the answer to us.
    errorHandler: () => undefined,
  });
  return (incoming, outgoing) => {
    // Does nothing where something was sent.
    const answer = () => deps.send(incoming, outgoing, errorReply("BAD_REQUEST"));
    adapted(incoming, outgoing).then(answer, answer);
  };
}

type ApiContext = Context<{ Bindings: HttpBindings }>;

export interface ApiDeps {
  readonly authenticator: Authenticator;
  readonly publicAccess: PublicAccess;
  /** By path. */
  readonly featurePaths: ReadonlyMap<string, FeaturePath>;
  /** False: the feature is on and gave up. */
  isUp(feature: string): boolean;
  readonly clientOf: ClientResolver;
  readonly connections: DeviceConnections;
  readonly send: Send;
  readonly log: Logger;
}

function apiApp(routes: readonly (ApiRoute | AnyRoute)[], deps: ApiDeps): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  // Replies go out on Node's own response: the web Response would only be taken apart again.
  const sent = (context: ApiContext, reply: Reply | undefined): Response => {
    if (reply) deps.send(context.env.incoming, context.env.outgoing, reply);
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

async function answer(route: ApiRoute | AnyRoute, context: ApiContext, deps: ApiDeps): Promise<Reply | undefined> {
  if ("isUp" in route && !route.isUp()) return FEATURE_DOWN;
  const { env } = context;
  const { incoming, outgoing } = env;
  const client = deps.clientOf(incoming.headers, peerOf(incoming.socket));
  const { access } = route;
  const principal =
    access === "open"
      ? deps.publicAccess.admit(incoming.headers, client)
      : deps.authenticator.require(incoming.headers, client, access);
  if (principal instanceof Reply) return principal;
  const asked = { params: context.req.param(), query: fieldsOf(route.query, queryOf(incoming)), env };
  if (principal === undefined) return (route as AnyRoute).handle({ principal, ...asked, release: () => {} });
  const release = openExchange(deps.connections, principal, deps.send, incoming, outgoing);
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

// The routes core itself has below `/api/`.

export interface CoreRouteDeps
  extends Reports, SessionRouteDeps, SettingsRouteDeps, OperationRouteDeps, SopEditorRouteDeps {
  readonly messageAdmin: MessageAdmin;
  readonly devices: Devices;
  readonly approvals: GatewayApprovals;
  readonly policyRules: PolicyRules;
  readonly sops: GatewaySops;
  readonly bodies: BodyLimits;
  readonly pageSessions: PageSessions;
  readonly pairing: Pairing;
  readonly linksOf: PairingCodeDeps["linksOf"];
  readonly push: WebPush;
  readonly log: Logger;
}

const coreRoutes = (deps: CoreRouteDeps): ApiRoute[] => [
  ...reportRoutes(deps),
  ...inboxRoutes(deps.messageAdmin),
  ...sessionRoutes(deps),
  ...approvalRoutes(deps.approvals, deps.bodies),
  ...policyRuleRoutes(deps.policyRules),
  ...settingsRoutes(deps),
  ...operationRoutes(deps),
  ...commandRoutes(),
  ...sopRoutes(deps.sops, deps.bodies),
  ...sopEditorRoutes(deps),
  ...sopRunRoutes(deps.sops, deps.approvals),
  ...auditRoutes(deps.sops.audit),
  ...deviceRoutes(deps),
  ...pairingCodeRoutes(deps),
  ...pushRoutes(deps),
];
