/**
 * Everything that depends on the settings, made anew for each change of them and swapped in one assignment. A request ends
 * in the front it came in by. What must outlive a change (lockouts, slots, codes, seen ids, turns) is handed in.
 */
import type { RequestListener } from "node:http";
import { type ClientId, SvcError } from "@svc/contract";
import { Ongoing } from "@svc/kernel";
import { featureRoutes } from "./routes/features.ts";
import { ChannelEventsRoute } from "./routes/channel-events.ts";
import { HealthRoute } from "./routes/health.ts";
import { requestListener } from "./http/listener.ts";
import { metricsHandle } from "./routes/metrics.ts";
import { channelPaths } from "./routes/channel-ingress.ts";
import { routeNames } from "./middleware/tracing.ts";
import { type ClientResolver, clientResolver } from "./middleware/client.ts";
import { hostRules } from "./middleware/host-check.ts";
import type { Lasting } from "./lasting.ts";
import { openApiRoute } from "./openapi/route.ts";
import { ownRoutes } from "./own-routes.ts";
import { type PairingLinks, pairingLinks } from "./auth/pairing.ts";
import { SessionRoute, signInWays } from "./routes/page-session.ts";
import { PairRoute } from "./routes/pair.ts";
import { CORE_PATHS } from "./routes/core-paths.ts";
import { SopIngress, sopPaths } from "./routes/sop-paths.ts";
import { RequestEvents } from "./sop-events.ts";
import { streamRoutes, type Upgrade, upgradeHandler } from "./streams/upgrade.ts";
import type { GatewaySettings } from "./types.ts";
import { WebhookIngress } from "./routes/webhook.ts";
import { WebhookLayers } from "./middleware/webhook-admission.ts";

export interface Front {
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

/** Changes nothing outside. `port`: the one listened on. Throws CONFIG_INVALID, FEATURE_CONFLICT. */
export function makeFront(settings: GatewaySettings, lasting: Lasting, port: number): Front {
  const { config } = settings;
  const { deps, api, send, isDraining } = lasting;
  const clientOf = resolverOf(settings, lasting);
  const ongoing = new Ongoing();
  const bodies = { maxBytes: config.max_body_bytes, room: lasting.deviceBodyRoom };
  const isUp = (feature: string): boolean => deps.isUp(feature);
  const features = featureRoutes(settings.routes, {
    ...lasting,
    authFeatures: settings.authFeatures,
    maxBodyBytes: config.max_body_bytes,
    ongoing,
    isUp,
  });
  const rules = hostRules({ allowedHosts: config.allowed_hosts, publicUrl: config.public_url, port });
  const linksOf = (code: string): PairingLinks =>
    pairingLinks({ code, host: config.host, port, publicUrl: config.public_url });
  const onClientGone = (clientId: ClientId): void => deps.onClientGone(clientId);
  const layers = new WebhookLayers({ ...lasting, ...settings, clientOf, clock: deps.clock, onClientGone });
  const events = new RequestEvents(deps);
  const pair = new PairRoute({
    pairing: lasting.pairing,
    clientOf,
    limit: lasting.pairLimit,
    clock: deps.clock,
    log: deps.log,
  });
  const own = ownRoutes({
    ...lasting,
    webhook: new WebhookIngress({
      ...lasting,
      ...deps,
      layers,
      events,
      limit: lasting.webhookLimit,
      agent: settings.webhook.agent,
      idempotency: deps.store.idempotency,
    }),
    pair,
    session: new SessionRoute({ ...lasting, clientOf, pair, ways: signInWays(settings, isUp) }),
    health: new HealthRoute({ ...lasting, clientOf, health: () => deps.health(), instance: deps.instance }),
    channelEvents: new ChannelEventsRoute({ ...deps, rules }),
    metrics: metricsHandle(settings, { ...lasting, ongoing, log: deps.log }),
    maxBodyBytes: config.max_body_bytes,
    log: deps.log,
  });
  own.push(...streamRoutes({ ...lasting, clientOf }));
  const document = openApiRoute({ version: deps.version, features, send, log: deps.log });
  const routes = [...own, document];
  const patterns = [...CORE_PATHS, ...features.map(({ path }) => path), ...settings.featurePaths.keys()];
  const taken = [...routes.map(({ path }) => path), ...lasting.page.keys()];
  const listener = requestListener({
    rules,
    routes,
    page: lasting.page,
    channels: channelPaths(settings, lasting, ongoing, taken),
    late: sopPaths({
      ...lasting,
      room: lasting.deviceBodyRoom,
      sops: deps.sops,
      ingress: new SopIngress({ layers, events, limit: lasting.sopLimit, log: deps.log }),
      taken: patterns,
      maxBodyBytes: config.max_body_bytes,
      log: deps.log,
    }),
    routeOf: routeNames(patterns),
    otherwise: api.listener(
      { core: { ...deps, ...lasting, bodies, linksOf }, features },
      { ...lasting, featurePaths: settings.featurePaths, isUp, clientOf, log: deps.log },
    ),
    isDraining,
    send,
    watch: lasting.requests.watch,
  });
  const upgrade = upgradeHandler({
    ...lasting,
    ...deps,
    rules,
    clientOf,
    library: lasting.socketLibrary,
    limit: lasting.webhookLimit,
  });
  return { settings, listener, upgrade, ongoing, linksOf, warning: layers.warning };
}

function resolverOf({ config }: GatewaySettings, { forwarding: watch }: Lasting): ClientResolver {
  const { trust_forwarded_headers: trustForwardedHeaders, trusted_proxies: trustedProxies } = config;
  try {
    return clientResolver({ trustForwardedHeaders, trustedProxies, watch });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : "malformed";
    throw new SvcError("CONFIG_INVALID", `gateway.trusted_proxies: ${why}.`, { cause });
  }
}
