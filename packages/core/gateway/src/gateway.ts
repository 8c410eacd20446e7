/** Puts the gateway together, listens, and takes it down again. */
import { SvcError } from "@svc/contract";
import { coreRoutes } from "./api/core-routes.ts";
import { featureRoutes } from "./api/feature-routes.ts";
import { SessionsView } from "./api/sessions.ts";
import { Authenticator } from "./auth/authenticator.ts";
import { Devices } from "./auth/devices.ts";
import { onDemand } from "./http/on-demand.ts";
import { requestListener } from "./http/listener.ts";
import { errorReply } from "./http/reply.ts";
import { sender } from "./http/send.ts";
import { createHttpServer, listen } from "./http/server.ts";
import { closer } from "./http/close.ts";
import { checkBind } from "./net/bind.ts";
import { clientResolver } from "./net/client.ts";
import { hostRules } from "./net/host-rules.ts";
import { ownRoutes } from "./own-routes.ts";
import { Pairing } from "./pairing/pairing.ts";
import { PairRoute } from "./pairing/route.ts";
import { RunningTurns } from "./running-turns.ts";
import type { Gateway, GatewayDeps } from "./types.ts";
import { WebhookIngress } from "./webhook/ingress.ts";

/** Resolves when it listens. Throws PUBLIC_BIND, CONFIG_INVALID, FEATURE_CONFLICT before it does, or ADDRESS_IN_USE. */
export async function startGateway(deps: GatewayDeps): Promise<Gateway> {
  const { config, clock, log, instance } = deps;
  checkBind(config);
  let draining = false;
  const isDraining = () => draining;
  const running = new RunningTurns();
  const devices = new Devices(deps.store.devices, clock);
  const authenticator = new Authenticator(devices, clock, log);
  const clientOf = resolverOf(deps);
  const send = sender(clock, isDraining);
  const pairing = new Pairing({ devices, requirePairing: config.require_pairing, clock, log });
  const webhook = new WebhookIngress({
    config,
    webhook: deps.webhook,
    authenticator,
    clientOf,
    idempotency: deps.store.idempotency,
    turns: deps.turns,
    running,
    clock,
    log,
  });

  const core = coreRoutes(deps, new SessionsView(deps.sessions, devices));
  const features = featureRoutes(deps.routes, core, config.max_body_bytes);
  const apiRoutes = [...core, ...features];
  // Hono is evaluated with the first request it is for: the start, and a daemon that only takes webhooks, do without it.
  const otherwise = onDemand(send, async () => {
    const { apiListener } = await import("./api/listener.ts");
    return apiListener(apiRoutes, { authenticator, clientOf, send, log });
  });

  let rules = hostRules({ allowedHosts: config.allowed_hosts, publicUrl: config.public_url, port: config.port });
  const routes = ownRoutes({
    webhook,
    pair: new PairRoute(pairing, clientOf, clock, log),
    health: () => deps.health(),
    isDraining,
    instance,
    maxBodyBytes: config.max_body_bytes,
    send,
    log,
  });
  const listener = requestListener({ rules: () => rules, routes, otherwise, isDraining, send });
  const server = createHttpServer(listener, (incoming, outgoing) =>
    send(incoming, outgoing, errorReply("BAD_REQUEST", { message: "Only Expect: 100-continue is understood." })),
  );
  const { connections, close } = closer(server, running, clock);
  const port = await listen(server, config.host, config.port);
  // The Origin rule needs the port that was really taken.
  if (port !== config.port) {
    rules = hostRules({ allowedHosts: config.allowed_hosts, publicUrl: config.public_url, port });
  }
  log.info("the gateway listens", { port, version: deps.version });

  return {
    url: `http://${urlHost(config.host)}:${port}`,
    port,
    instance,
    pairing,
    devices: { list: () => deps.store.devices.all(), rename: notYet, revoke: notYet },
    seen: { untrustedForwarding: false },
    reconfigure: notYet,
    get connections() {
      return connections();
    },
    drain() {
      draining = true;
    },
    close(graceMs) {
      draining = true;
      return close(graceMs);
    },
  };
}

function resolverOf({ config, log }: GatewayDeps) {
  const { trust_forwarded_headers: trustForwardedHeaders, trusted_proxies: trustedProxies } = config;
  try {
    return clientResolver({ trustForwardedHeaders, trustedProxies, log });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : "malformed";
    throw new SvcError("CONFIG_INVALID", `gateway.trusted_proxies: ${why}.`, { cause });
  }
}

/** The host to reach this gateway by from this machine: the unspecified address is none. */
function urlHost(host: string): string {
  if (host === "0.0.0.0" || host === "::" || host.trim() === "") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}

const notYet = (): never => {
  throw new SvcError("INTERNAL", "Not there yet.");
};
