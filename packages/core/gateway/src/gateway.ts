/** Puts the gateway together, listens, changes its settings, and takes it down again. */
import type { RequestListener } from "node:http";
import type { Socket } from "node:net";
import { type Front, makeFront } from "./front.ts";
import { keepRoom, outliveAcceptErrors } from "./http/connections.ts";
import { closer } from "./http/close.ts";
import { errorReply } from "./http/reply.ts";
import { RequestBudget } from "./http/request-budget.ts";
import { checkListen, createHttpServer, listen } from "./http/listen.ts";
import { makeLasting, webhookLimitOf } from "./lasting.ts";
import { checkBind, checkRebind, localUrl } from "./http/bind.ts";
import { OTHER } from "./middleware/tracing.ts";
import { isUpgrade } from "./streams/upgrade.ts";
import type { Gateway, GatewayDeps, GatewaySettings } from "./types.ts";

/** Resolves when it listens. Throws PUBLIC_BIND, CONFIG_INVALID, FEATURE_CONFLICT before it does, or ADDRESS_IN_USE. */
export async function startGateway(deps: GatewayDeps): Promise<Gateway> {
  const { config, clock, log, instance } = deps;
  checkBind(config);
  let draining = false;
  let front: Front;
  let inForce: GatewaySettings = deps;
  const serve: RequestListener = (incoming, outgoing) => {
    try {
      front.listener(incoming, outgoing);
    } catch (error) {
      // Uncaught here it would end the process, and every other client's turn with it.
      log.error("a request failed unexpectedly", { cause: error instanceof Error ? error.message : "unknown" });
      send(incoming, outgoing, errorReply("INTERNAL"));
    }
  };
  const lasting = makeLasting(deps, { settings: () => inForce, isDraining: () => draining, serve });
  const { crowd, devices, forwarding, pageSessions, pairing, push, running, requests, send, sopLimit, webhookLimit } =
    lasting;
  /** Never throws: from the first line on, the next request meets the new settings. */
  const adopt = (next: Front, before?: Front): void => {
    front = next;
    inForce = next.settings;
    for (const limit of [webhookLimit, sopLimit]) limit.configure(webhookLimitOf(next.settings));
    if (next.settings.config.trust_forwarded_headers) forwarding.mended();
    if (next.warning !== undefined && next.warning !== before?.warning) log.warn(next.warning);
  };

  front = makeFront(deps, lasting, config.port);
  const badExpectation = errorReply("BAD_REQUEST", { message: "Only Expect: 100-continue is understood." });
  const onUnknownExpectation: RequestListener = (incoming, outgoing) =>
    requests.watch(
      incoming,
      outgoing,
      () => OTHER,
      () => send(incoming, outgoing, badExpectation),
    );
  const server = createHttpServer(
    { serve, onUnknownExpectation, isUpgrade },
    requests,
    new RequestBudget({ clock, log }),
  );
  server.on("upgrade", (incoming, socket, head) => front.upgrade(incoming, socket as Socket, head));
  const { connections, close } = closer(server, running, clock, () => crowd.end());
  const port = await listen(server, config.host, config.port);
  push.start();
  outliveAcceptErrors(server, clock, log);
  keepRoom(server, clock, log);
  // The Origin rule needs the port that was really taken.
  adopt(port === config.port ? front : makeFront(deps, lasting, port));
  log.info("the gateway listens", { port, version: deps.version });

  return {
    url: localUrl(config.host, port),
    port,
    instance,
    pairing,
    linksOf: (code) => front.linksOf(code),
    devices,
    seen: {
      get untrustedForwarding() {
        return forwarding.seen;
      },
    },
    get connections() {
      return connections();
    },
    reconfigure(settings) {
      checkRebind(settings.config, config.host);
      const before = front;
      adopt(makeFront(settings, lasting, port), before);
      return before.ongoing;
    },
    async checkSuccessor(next) {
      devices.checkStored();
      checkBind(next);
      await checkListen(next, port);
    },
    drain() {
      draining = true;
      crowd.drain();
    },
    close(graceMs) {
      draining = true;
      crowd.drain();
      devices.stop();
      pageSessions.stop();
      push.stop();
      return close(graceMs);
    },
  };
}
