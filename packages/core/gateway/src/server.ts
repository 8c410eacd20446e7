/** Starts the gateway, listens, and stops it. */
import type { RequestListener, Server } from "node:http";
import type { Socket } from "node:net";
import { App } from "./app.ts";
import {
  checkBind,
  checkListen,
  checkRebind,
  createHttpServer,
  limitConnections,
  listen,
  localUrl,
  responseInFlight,
  surviveAcceptErrors,
  within,
} from "./http/connections.ts";
import { errorReply } from "./http/reply.ts";
import { RequestBudget } from "./http/request-budget.ts";
import { OTHER } from "./http/request.ts";
import { isUpgrade } from "./streams/upgrade.ts";
import type { Clock } from "@svc/contract";
import type { RunningTurns } from "./pipeline.ts";
import type { Gateway, GatewayDeps } from "./types.ts";

/** Resolves when it listens. Throws PUBLIC_BIND, CONFIG_INVALID, FEATURE_CONFLICT before it does, or ADDRESS_IN_USE. */
export async function startGateway(deps: GatewayDeps): Promise<Gateway> {
  const { config, clock, log, instance } = deps;
  checkBind(config);
  const app = new App(deps);
  const { subscribers, devices, forwarding, pageSessions, pairing, push, running, requests, send } = app.state;
  const badExpectation = errorReply("BAD_REQUEST", { message: "Only Expect: 100-continue is understood." });
  const onUnknownExpectation: RequestListener = (incoming, outgoing) =>
    requests.watch(
      incoming,
      outgoing,
      () => OTHER,
      () => send(incoming, outgoing, badExpectation),
    );
  const server = createHttpServer(
    { serve: app.serve, onUnknownExpectation, isUpgrade },
    requests,
    new RequestBudget({ clock, log }),
  );
  server.on("upgrade", (incoming, socket, head) => app.upgrade(incoming, socket as Socket, head));
  const { connections, close } = closer(server, running, clock, () => subscribers.end());
  const port = await listen(server, config.host, config.port);
  push.start();
  surviveAcceptErrors(server, clock, log);
  limitConnections(server, clock, log);
  app.listensOn(port);
  log.info("the gateway listens", { port, version: deps.version });

  return {
    url: localUrl(config.host, port),
    port,
    instance,
    pairing,
    linksOf: app.linksOf,
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
      return app.reconfigure(settings);
    },
    async checkSuccessor(next) {
      devices.checkStored();
      checkBind(next);
      await checkListen(next, port);
    },
    drain: () => app.drain(),
    close(graceMs) {
      app.drain();
      devices.stop();
      pageSessions.stop();
      push.stop();
      return close(graceMs);
    },
  };
}

/** How long aborted turns get to end: a command that ignores SIGTERM is killed after two seconds, and then kept. */
const ABORT_GRACE_MS = 5_000;
/** What a request that is still coming in gets: one slow client must not hold the shutdown for all of its time. */
const RECEIVE_GRACE_MS = 1_000;

interface Closer {
  connections(): number;
  close(graceMs: number): Promise<void>;
}

/**
 * Counts connections and closes them in order. While turns run the server still listens: a new client or probe gets 503,
 * which says more than a refused connection. Then it stops listening, cuts requests that have only half arrived, and
 * gives the others the rest of the time.
 *
 * `endStreams`: called when no turn runs any more; open streams would delay the shutdown.
 */
function closer(server: Server, running: RunningTurns, clock: Clock, endStreams: () => void): Closer {
  const open = new Set<Socket>();
  server.on("connection", (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  const hurry = Promise.withResolvers<void>();
  let closing: Promise<void> | undefined;

  const close = async (graceMs: number): Promise<void> => {
    const endsAtMs = clock.monotonic() + graceMs;
    await within(Promise.race([running.idle(), hurry.promise]), graceMs, clock);
    if (running.size > 0) {
      running.abortAll();
      await within(running.idle(), ABORT_GRACE_MS, clock);
    }
    endStreams();
    // Stops listening and closes idle connections; the others end with the answer they wait for.
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    const ended = Promise.race([closed, hurry.promise]);
    if (!(await within(ended, RECEIVE_GRACE_MS, clock))) {
      for (const socket of open) if (responseInFlight(socket)?.req.complete !== true) socket.destroy();
      await within(ended, Math.max(0, endsAtMs - clock.monotonic()), clock);
    }
    server.closeAllConnections();
    // Those that were upgraded are no longer the server's.
    for (const socket of open) socket.destroy();
    await closed;
    // The server is "closed" a moment before the last of its sockets says so.
    await Promise.all(Array.from(open, (socket) => new Promise((gone) => socket.once("close", gone))));
  };
  return {
    connections: () => open.size,
    close(graceMs) {
      // A second stop request means that the operator will not wait.
      if (closing && graceMs === 0) hurry.resolve();
      return (closing ??= close(graceMs));
    },
  };
}
