/**
 * The daemon: config, service, doors, in that order; and the way back when it is told to stop.
 *
 *   SIGTERM, SIGINT   no new work (503), running turns get daemon.drain_secs, then they are cancelled; exit 0
 *   a second one      running turns are cancelled at once
 */
import { randomUUID } from "node:crypto";
import { setFlagsFromString } from "node:v8";
import { EXIT } from "@svc/contract";
import { type ControlServer, startControl } from "@svc/gateway/control";
import { type Gateway, startGateway } from "@svc/gateway";
import { systemClock } from "@svc/kernel";
import type { CommandContext } from "../cli/command.ts";
import { banner, pairingLines } from "./banner.ts";
import { openContext, prepareHome, type ServiceContext } from "./context.ts";
import { daemonHandlers } from "./daemon-handlers.ts";
import { openService, type Service } from "./service.ts";
import { featureList, statusReport, toolList } from "./status.ts";

export async function runDaemon(context: CommandContext): Promise<number> {
  // Left alone, V8 lets garbage grow to several times the live heap before it looks (bench/README.md). Set here and not at
  // the binary's start: a flag given there voids the code cache of Node's own modules.
  setFlagsFromString("--heap-growing-percent=30");
  const stop = stopSignals();
  const firstRun = await prepareHome(context);
  const opened = await openContext(context);
  const service = await openService(opened, stop.now);
  try {
    const gateway = await openGateway(context, service);
    try {
      await serve(context, service, gateway, firstRun, stop);
    } finally {
      await gateway.close(0);
    }
  } finally {
    await service.close();
  }
  return EXIT.ok;
}

/** From the last door's opening to everybody's going home. */
async function serve(
  context: CommandContext,
  service: Service,
  gateway: Gateway,
  firstRun: boolean,
  stop: StopSignals,
): Promise<void> {
  const { home, log } = service.context;
  const status = (): ReturnType<typeof statusReport> => statusReport(context.build, service, gateway);
  const handlers = await daemonHandlers(service, gateway, status);
  const control = await startControl(home.controlSocket, handlers, { log, clock: systemClock });
  try {
    service.lifecycle.execute();
    context.print(banner(context.build, service, gateway, firstRun));
    const code = gateway.pairing.initialCode();
    if (code) context.print(pairingLines(gateway, code));
    warmWhenIdle(service);
    await stop.asked;
    await drain(service.context, gateway, control, stop.now);
  } finally {
    await control.close(0);
  }
}

async function openGateway(context: CommandContext, service: Service): Promise<Gateway> {
  const { config, log } = service.context;
  const gateway: Gateway = await startGateway({
    config: config.core.gateway,
    webhook: config.core["channels_config.webhook"],
    store: service.store,
    turns: service.agent,
    routes: service.registry.routes,
    status: () => statusReport(context.build, service, gateway),
    tools: () => toolList(service),
    features: () => featureList(service),
    health: () => ({ degraded: service.lifecycle.degraded() }),
    log,
    clock: systemClock,
    version: context.build.version,
    instance: randomUUID(),
  });
  return gateway;
}

/** The control socket goes last: who stops the service wants to look at it, and turns of `svc chat` are turns too. */
async function drain(
  { config, log }: ServiceContext,
  gateway: Gateway,
  control: ControlServer,
  now: AbortSignal,
): Promise<void> {
  const graceMs = config.core.daemon.drain_secs * 1000;
  const endsAtMs = systemClock.monotonic() + graceMs;
  const leftMs = (): number => (now.aborted ? 0 : Math.max(0, endsAtMs - systemClock.monotonic()));
  log.info("stopping: no new work is taken, running turns may finish", { seconds: config.core.daemon.drain_secs });
  for (const door of [gateway, control]) {
    const closing = door.close(leftMs());
    const hurry = (): void => void door.close(0);
    now.addEventListener("abort", hurry, { once: true });
    await closing;
    now.removeEventListener("abort", hurry);
  }
}

/** The first turn must not wait for the model's library, and nobody else for its loading. */
function warmWhenIdle({ agent, context }: Service): void {
  if (context.config.core.model.provider === "builtin") return;
  systemClock.after(1000, () => {
    agent.warm().catch((error: unknown) => context.log.warn("the model could not be loaded", { error: String(error) }));
  });
}

interface StopSignals {
  /** Resolves at the first signal. */
  readonly asked: Promise<void>;
  /** Aborted at the second. */
  readonly now: AbortSignal;
}

function stopSignals(): StopSignals {
  const hurry = new AbortController();
  let count = 0;
  const asked = new Promise<void>((resolve) => {
    const onSignal = (): void => {
      count += 1;
      if (count === 1) resolve();
      else hurry.abort();
    };
    process.on("SIGTERM", onSignal);
    process.on("SIGINT", onSignal);
  });
  return { asked, now: hurry.signal };
}
