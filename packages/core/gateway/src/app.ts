/**
 * The gateway's routes and the order of their checks. Every request goes the same way:
 *
 *   host check 400, 403 → path → draining 503 → method 405 → the checks of its group → handler
 *
 * To change what a group of routes checks, change its list in `groupsOf`; a check is a function of `pipeline.ts`. To change
 * what a route takes and answers, change its file in `routes/`: spec and handler stand together.
 *
 * All of this depends on the settings. Each change of them makes it anew, and one assignment swaps it in; a request ends by
 * the settings with which it began. What outlives a change is in `state.ts`.
 */
import type { RequestListener } from "node:http";
import { type ClientId, type Logger, SvcError } from "@svc/contract";
import { Ongoing } from "@svc/runtime";
import { upgradeCredentials } from "./auth/authenticator.ts";
import { type PairingLinks, pairingLinks } from "./auth/pairing.ts";
import { allowHeader, errorReply, notAllowed, optionsReply, Reply } from "./http/reply.ts";
import {
  type Handle,
  type HostRules,
  type RouteGroup,
  bearer,
  endsWithDevice,
  hostCheck,
  hostRules,
  jsonContentType,
  jsonContentTypeIfBody,
  localOnly,
  ownPage,
  pipeline,
  rateLimit,
  idempotencyClaim,
  notDuplicate,
} from "./pipeline.ts";
import { type ClientResolver, clientResolver, peerOf } from "./client.ts";
import { WEBHOOK, Webhook, WebhookAdmission } from "./routes/webhook.ts";
import { OTHER, routeNames } from "./http/request.ts";
import { openApiRoute } from "./routes/openapi.ts";
import { CHANNEL_EVENTS, ChannelEventsRoute } from "./routes/channel-events.ts";
import { channelPaths } from "./routes/channel-ingress.ts";
import { CORE_PATHS } from "./routes/core-paths.ts";
import { featureRoutes } from "./routes/features.ts";
import { HEALTH, HealthRoute, METRICS, metricsHandle } from "./routes/monitoring.ts";
import {
  MAX_PAIR_BYTES,
  PAIR,
  PairRoute,
  SIGNED_IN,
  SIGN_IN,
  SIGN_IN_FEATURES,
  SIGN_OUT,
  SessionRoute,
  signInFeatures,
} from "./routes/sign-in.ts";
import type { OwnRoute, RouteSpec } from "./routes/route.ts";
import { SopPaths } from "./routes/sop-paths.ts";
import { RequestEvents } from "./sop-events.ts";
import { GatewayState } from "./state.ts";
import { EVENTS, streamEvents, subscriberSlot } from "./streams/sse.ts";
import { SOCKET, type Upgrade, UPGRADE_REQUIRED, upgradeHandler } from "./streams/upgrade.ts";
import type { GatewayDeps, GatewaySettings } from "./types.ts";

/** Serves requests by the settings in force, and says whether new work is still taken. */
export class App {
  readonly state: GatewayState;
  readonly #log: Logger;
  #settings: GatewaySettings;
  #handlers: RequestHandlers;
  /** The one listened on. */
  #port: number;
  #warning: string | undefined;
  #isDraining = false;

  /** Throws CONFIG_INVALID, FEATURE_CONFLICT. */
  constructor(deps: GatewayDeps) {
    this.#log = deps.log;
    this.#settings = deps;
    this.#port = deps.config.port;
    this.state = new GatewayState({
      gateway: deps,
      settings: () => this.#settings,
      isDraining: () => this.#isDraining,
      serve: this.serve,
    });
    this.#handlers = makeHandlers(deps, this.state, this.#port);
  }

  readonly serve: RequestListener = (incoming, outgoing) => {
    try {
      this.#handlers.listener(incoming, outgoing);
    } catch (error) {
      // Uncaught here it would end the process, and every other client's turn with it.
      this.#log.error("a request failed unexpectedly", { cause: error instanceof Error ? error.message : "unknown" });
      this.state.send(incoming, outgoing, errorReply("INTERNAL"));
    }
  };

  readonly upgrade: Upgrade = (incoming, socket, head) => this.#handlers.upgrade(incoming, socket, head);

  readonly linksOf = (code: string): PairingLinks => this.#handlers.linksOf(code);

  /** The Origin rule needs the port that was really taken. */
  listensOn(port: number): void {
    const isAsMade = port === this.#port;
    this.#port = port;
    this.#adopt(isAsMade ? this.#handlers : makeHandlers(this.#settings, this.state, port));
  }

  /** Returns the requests that began by the settings before. Throws CONFIG_INVALID, FEATURE_CONFLICT, and then nothing has changed. */
  reconfigure(settings: GatewaySettings): Ongoing {
    const { ongoing } = this.#handlers;
    this.#adopt(makeHandlers(settings, this.state, this.#port));
    return ongoing;
  }

  /** New work is answered 503 from now on. */
  drain(): void {
    this.#isDraining = true;
    this.state.subscribers.drain();
  }

  /** Never throws: from the first line on, the next request meets the new settings. */
  #adopt(next: RequestHandlers): void {
    this.#handlers = next;
    this.#settings = next.settings;
    this.state.configure(next.settings);
    if (next.warning !== undefined && next.warning !== this.#warning) this.#log.warn(next.warning);
    this.#warning = next.warning;
  }
}

/** What serves requests by one version of the settings. */
interface RequestHandlers {
  readonly settings: GatewaySettings;
  readonly listener: RequestListener;
  /** Takes requests that want to be a WebSocket. */
  readonly upgrade: Upgrade;
  /** Requests to routes and channels of features. */
  readonly ongoing: Ongoing;
  /** Links that sign a browser in with this pairing code. */
  readonly linksOf: (code: string) => PairingLinks;
  /** What the operator is to be told about these settings. */
  readonly warning: string | undefined;
}

/** The groups of routes that are answered on the raw response, and what they need. */
interface Context {
  readonly settings: GatewaySettings;
  readonly state: GatewayState;
  readonly rules: HostRules;
  readonly clientOf: ClientResolver;
  readonly admission: WebhookAdmission;
  readonly ongoing: Ongoing;
  /** Paths of core, of features and of features that are not on. */
  readonly patterns: readonly string[];
}

/**
 * The order of checks is part of the interface: a request that breaks several rules gets the first error. A check that ran
 * too early would tell an unauthenticated caller something.
 *
 * Two groups are not in the list. Channels are called by platforms at any rate, and check by themselves
 * (`routes/channel-ingress.ts`): method 405 → draining 503 → in service 503 → size 413 → signature 401, 403 → JSON 400 →
 * stored → 200. Routes below `/api/` are served by hono (`routes/api.ts`): feature in service 503 → bearer 401, scope 403 →
 * query 400 → handler, which reads its body by content type 415, size 413, JSON and schema 400.
 */
function groupsOf({ settings, state, rules, clientOf, admission, ongoing, patterns }: Context) {
  const { config } = settings;
  const { deps, authenticator, connections, send } = state;
  const { clock, log, store } = deps;
  const isUp = (feature: string): boolean => deps.isUp(feature);

  const events = new RequestEvents(deps);
  const { agent } = settings.webhook;
  const webhook = new Webhook({ ...deps, running: state.running, events, agent, idempotency: store.idempotency });
  const sops = new SopPaths({ sops: deps.sops, events, taken: patterns, log });
  const pair = new PairRoute({ pairing: state.pairing, log });
  const pairLimit = rateLimit(state.pairLimit, clientOf, clock);
  const features = signInFeatures(settings, isUp);
  const session = new SessionRoute({ ...state, clientOf, pair, pairLimit, features });
  const health = new HealthRoute({ ...state, clientOf, health: () => deps.health(), instance: deps.instance });
  const channelEvents = new ChannelEventsRoute(deps);

  const maxBytes = config.max_body_bytes;
  const deviceBody = { maxBytes, memory: state.deviceBodyMemory };
  const anyBody = { maxBytes, memory: state.bodyMemory };
  const pairBody = { maxBytes: MAX_PAIR_BYTES };

  const webhookGroup: RouteGroup = {
    before: [
      rateLimit(state.webhookLimit, clientOf, clock),
      admission.caller,
      admission.secret,
      jsonContentType,
      endsWithDevice(connections, send),
    ],
    body: deviceBody,
    after: [admission.signature, webhook.message, webhook.session, idempotencyClaim(), notDuplicate(store.idempotency)],
    handle: webhook.answer,
    failed: webhook.failed,
    settled: admission.settled,
  };

  /** Paths that start procedures. They come and go while the gateway runs. */
  const sopGroup: RouteGroup = {
    before: [
      rateLimit(state.sopLimit, clientOf, clock),
      admission.caller,
      admission.secret,
      jsonContentType,
      endsWithDevice(connections, send),
    ],
    body: deviceBody,
    // Whether it is a duplicate is decided in the transaction that starts the runs.
    after: [admission.signature, sops.json, idempotencyClaim(SopPaths.keyOn)],
    handle: sops.start,
    failed: sops.failed,
    settled: admission.settled,
  };

  const own: readonly (readonly [RouteSpec, RouteGroup | Handle])[] = [
    [WEBHOOK, webhookGroup],
    [PAIR, { before: [pairLimit, jsonContentTypeIfBody], body: pairBody, handle: pair.answer }],
    [
      SIGN_IN,
      { before: [ownPage, session.signInCaller, jsonContentTypeIfBody], body: pairBody, handle: session.signIn },
    ],
    [SIGNED_IN, { before: [], handle: session.signedIn }],
    [SIGN_OUT, { before: [], handle: session.signOut }],
    [SIGN_IN_FEATURES, { before: [], handle: session.features }],
    // Probes poll it every second, and it is public: no list of checks.
    [HEALTH, (incoming, _outgoing, peer) => health.answer(incoming.headers, peer)],
    [CHANNEL_EVENTS, { before: [localOnly(rules), jsonContentType], body: anyBody, handle: channelEvents.answer }],
    [METRICS, metricsHandle(settings, { ...state, ongoing, log })],
    [
      EVENTS,
      {
        before: [bearer(authenticator, clientOf, "read"), subscriberSlot(state.subscribers)],
        handle: streamEvents(state),
      },
    ],
    [
      SOCKET,
      { before: [bearer(authenticator, clientOf, "connect", upgradeCredentials)], handle: () => UPGRADE_REQUIRED },
    ],
  ];
  const toHandle = (group: RouteGroup | Handle): Handle =>
    typeof group === "function" ? group : pipeline(group, { ...state, log });
  return {
    own: own.map(([spec, group]): OwnRoute => ({ ...spec, handle: toHandle(group) })),
    sops,
    startSops: toHandle(sopGroup),
  };
}

/** Changes nothing outside. `port`: the one listened on. Throws CONFIG_INVALID, FEATURE_CONFLICT. */
function makeHandlers(settings: GatewaySettings, state: GatewayState, port: number): RequestHandlers {
  const { config } = settings;
  const { deps, send, page } = state;
  const { log } = deps;
  const clientOf = resolverOf(settings, state);
  const ongoing = new Ongoing();
  const isUp = (feature: string): boolean => deps.isUp(feature);
  const rules = hostRules({ allowedHosts: config.allowed_hosts, publicUrl: config.public_url, port });
  const onClientGone = (clientId: ClientId): void => deps.onClientGone(clientId);
  const admission = new WebhookAdmission({ ...state, ...settings, clock: deps.clock, onClientGone });
  const linksOf = (code: string): PairingLinks =>
    pairingLinks({ code, host: config.host, port, publicUrl: config.public_url });
  const features = featureRoutes(settings.routes, {
    ...state,
    authFeatures: settings.authFeatures,
    maxBodyBytes: config.max_body_bytes,
    clock: deps.clock,
    log,
    ongoing,
    isUp,
  });
  const patterns = [...CORE_PATHS, ...features.map(({ path }) => path), ...settings.featurePaths.keys()];
  const groups = groupsOf({ settings, state, rules, clientOf, admission, ongoing, patterns });
  const own = [...groups.own, openApiRoute({ version: deps.version, features, send, log })];
  const bodies = { maxBytes: config.max_body_bytes, memory: state.deviceBodyMemory };
  const listener = dispatcher({
    state,
    rules,
    own,
    channels: channelPaths(
      {
        ...state,
        ...settings,
        inbox: deps.inbox,
        sops: deps.sops,
        isUp,
        requireSignatures: config.require_signatures,
        maxBodyBytes: config.max_body_bytes,
        ongoing,
        clock: deps.clock,
        log,
      },
      [...own.map(({ path }) => path), ...page.keys()],
    ),
    sops: groups.sops,
    startSops: groups.startSops,
    routeOf: routeNames(patterns),
    api: state.api.listener(
      { core: { ...deps, ...state, bodies, linksOf }, features },
      { ...state, featurePaths: settings.featurePaths, isUp, clientOf, log },
    ),
  });
  const upgrade = upgradeHandler({
    ...state,
    ...deps,
    rules,
    clientOf,
    library: state.socketLibrary,
    limit: state.webhookLimit,
  });
  return { settings, listener, upgrade, ongoing, linksOf, warning: admission.warning };
}

function resolverOf({ config }: GatewaySettings, { forwarding: watch }: GatewayState): ClientResolver {
  const { trust_forwarded_headers: trustForwardedHeaders, trusted_proxies: trustedProxies } = config;
  try {
    return clientResolver({ trustForwardedHeaders, trustedProxies, watch });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : "malformed";
    throw new SvcError("CONFIG_INVALID", `gateway.trusted_proxies: ${why}.`, { cause });
  }
}

interface DispatcherDeps {
  readonly state: GatewayState;
  readonly rules: HostRules;
  readonly own: readonly OwnRoute[];
  /** By path; any method, also while draining. The platforms send any Host they like. */
  readonly channels: ReadonlyMap<string, Handle>;
  /** Looked for where there is no other route. */
  readonly sops: Pick<SopPaths, "has">;
  readonly startSops: Handle;
  /** The route of a path that `api` takes. */
  readonly routeOf: (path: string) => string;
  /** Handles every request that no route above matches. */
  readonly api: RequestListener;
}

/** Where a request goes. */
interface Route {
  /** For observers: never the path itself, because the caller chooses it. */
  readonly name: (path: string) => string;
  readonly handle: Handle;
}

/** Host check → path → handle. By hand and not by hono: every request of a platform and of /webhook passes here. */
function dispatcher({ state, rules, own, channels, sops, startSops, routeOf, api }: DispatcherDeps): RequestListener {
  const { isDraining, page, requests, send } = state;
  const byPath = Map.groupBy(own, ({ path }) => path);
  const byMethod = (routes: readonly OwnRoute[]): Handle =>
    methodsOf(new Map(routes.map(({ method, handle }) => [method, handle])), isDraining);
  const ownHandles = Array.from(byPath, ([path, routes]) => [path, byMethod(routes)] as const);
  const routes = new Map<string, Route>([
    ...Array.from(page, ([path, handle]) => [path, { name: () => "page", handle }] as const),
    ...[...channels, ...ownHandles].map(([path, handle]) => [path, { name: () => path, handle }] as const),
  ]);
  const sopRoute: Route = { name: () => "sop", handle: methodsOf(new Map([["POST", startSops]]), isDraining) };
  const apiRoute: Route = { name: (path) => routeOf(apiPath(path)), handle: handedTo(api, isDraining) };
  const routeFor = (path: string): Route => routes.get(path) ?? (sops.has(path) ? sopRoute : apiRoute);
  const hosts = { rules, open: channels, page };
  return (incoming, outgoing) => {
    const checked = hostCheck(incoming, hosts);
    const { name, handle } = checked instanceof Reply ? refusal(checked) : routeFor(checked);
    const path = checked instanceof Reply ? "" : checked;
    requests.watch(
      incoming,
      outgoing,
      () => name(path),
      () => {
        const reply = handle(incoming, outgoing, peerOf(incoming.socket), path);
        if (reply) send(incoming, outgoing, reply);
      },
    );
  };
}

const refusal = (reply: Reply): Route => ({ name: () => OTHER, handle: () => reply });

/** The specification names the paths of child agents without `/api`; both are served. */
const apiPath = (path: string): string => (path === "/agents" || path.startsWith("/agents/") ? `/api${path}` : path);

/** A path that is not canonical is 404. */
const handedTo =
  (listener: RequestListener, isDraining: () => boolean): Handle =>
  (incoming, outgoing, _peer, path) => {
    if (isDraining() && isWork(incoming.method!)) return errorReply("DRAINING");
    if (path === "") return errorReply("NOT_FOUND");
    if (incoming.url!.startsWith(path)) incoming.url = apiPath(path) + incoming.url!.slice(path.length);
    listener(incoming, outgoing);
    return undefined;
  };

/** Draining 503 → method 405. HEAD comes with GET, OPTIONS with everything. */
function methodsOf(handlers: Map<string, Handle>, isDraining: () => boolean): Handle {
  const get = handlers.get("GET");
  if (get) handlers.set("HEAD", get);
  const allow = allowHeader([...handlers.keys()]);
  const options = optionsReply(allow);
  const refused = notAllowed(allow);
  handlers.set("OPTIONS", () => options);
  return (incoming, outgoing, peer, path) => {
    const method = incoming.method!;
    if (isDraining() && isWork(method)) return errorReply("DRAINING");
    const handle = handlers.get(method);
    return handle ? handle(incoming, outgoing, peer, path) : refused;
  };
}

const isWork = (method: string): boolean => method !== "GET" && method !== "HEAD" && method !== "OPTIONS";
