/** Opens the service: features, database, procedures, agents, in the order in which one needs the other. */
import { ActionHistories, Attachments, createAgent, noneBackend } from "@svc/agent";
import { removeDrafts } from "@svc/config";
import type { Workspace } from "@svc/contract";
import { CORE_PATHS } from "@svc/gateway/core-paths";
import { limitedClient } from "@svc/gateway/identity";
import { systemClock } from "@svc/kit/system-clock";
import { channelSendTool, removeLeftovers } from "@svc/messaging";
import { currentScope, Lifecycle, logBackend, NO_TRACER } from "@svc/runtime";
import { sopTools } from "@svc/sop";
import { lockHome, openStore, type Store } from "@svc/store";
import { clearKilledRestore } from "../backup/interrupted.ts";
import type { OpenedContext } from "./context.ts";
import { idempotencyOf, openEvents, OpenService, type Service, type ServiceEvents } from "./service.ts";
import { enabledFeatures, openPathsOf } from "./features.ts";
import { type Generation, makeGeneration } from "./generation.ts";
import { openLibrary } from "./governance/procedures.ts";
import { LateFeaturePorts } from "./late-feature-ports.ts";

export interface ServiceOptions {
  readonly signal: AbortSignal;
  /** Others can reach it: the page, the command line. */
  readonly isDaemon: boolean;
  /** The daemon's: others are served by then, and the sandboxes can be probed. */
  readonly served?: Promise<void>;
  /** Called with what is done, step by step. */
  readonly phase?: (name: string) => void;
}

/** Throws ALREADY_RUNNING, STORE_*, FEATURE_CONFLICT, CONFIG_INVALID. */
export async function openService(
  opened: OpenedContext,
  { signal, isDaemon, served, phase = () => {} }: ServiceOptions,
): Promise<Service> {
  const { home, log, config } = opened;
  let store: Store | undefined;
  let service: Service | undefined;
  const probing = new AbortController();
  const ports = new LateFeaturePorts();
  const events: ServiceEvents = openEvents({
    context: opened,
    observe: (event) => {
      ports.watch(event);
      lifecycle.publish(event);
    },
    devices: () => store?.devices,
  });
  const lifecycle: Lifecycle = new Lifecycle({
    definitions: opened.composition.features,
    enabled: enabledFeatures(opened, config, ports),
    core: {
      observers: [logBackend({ log, isOn: () => (service?.config ?? config).backend === "log" })],
      sandboxes: [noneBackend],
      tools: [channelSendTool(() => ports.messaging().channelSend), ...sopTools(ports)],
    },
    reserved: { paths: CORE_PATHS },
    openPaths: openPathsOf(opened.composition),
    log,
    clock: systemClock,
    redact: log.redact,
    onState: events.onState,
  });
  await lifecycle.construct();
  phase("features constructed");
  const unlock = lockHome(home.lock);
  try {
    removeDrafts(home.root);
    await clearKilledRestore(home);
    const traceparent = (): string | undefined => currentScope().traceparent;
    const idempotency = idempotencyOf(config);
    store = ports.openStore(openStore({ file: home.database, clock: systemClock, idempotency, traceparent }));
    phase("home locked, database opened");
    const registry = await lifecycle.register(signal);
    phase("features registered");
    const actions = new ActionHistories(store.toolCalls, systemClock);
    const library = await openLibrary(opened, () => service?.config ?? config);
    phase("procedures read");
    // A command is over before anybody reads its numbers, and must not wait for a collector.
    const tracer = isDaemon ? lifecycle.tracer : NO_TRACER;
    const probeSignal = AbortSignal.any([signal, probing.signal]);
    const made = { context: opened, config, registry, store, actions, tracer, signal: probeSignal };
    const generation = await makeGeneration({
      ...made,
      hasProcedures: library.list().length > 0,
      ...(served && { probesAfter: served }),
    });
    await removeLeftovers(workspacesOf(generation), log);
    const attachments = new Attachments({
      folder: home.uploadsDir,
      store,
      clock: systemClock,
      log,
      speech: ports.speech,
      workspaceOf: (name) => (service?.generation ?? generation).agents.profiles.get(name)?.environment.workspace,
      workspaces: () => workspacesOf(service?.generation ?? generation),
    });
    await attachments.removeLeftovers();
    const agent = createAgent({
      agents: generation.agents,
      store,
      clock: systemClock,
      log,
      tracer,
      redact: log.redact,
      partialSecret: log.partialSecret,
      attachments,
      limitedClient,
      publish: events.publish,
      isListened: () => events.hub.subscribers > 0,
      // A command has the home to itself: nobody else could answer.
      ...(isDaemon && { ask: (question, gone) => ports.governance().questions.anywhere(question, gone) }),
    });
    await agent.recover();
    phase("agents made, interrupted work recovered");
    const deps = { context: opened, store, lifecycle, agent, attachments, ports, actions, events };
    service = new OpenService(deps, { ports, library, generation, unlock, isDaemon, probing });
    return service;
  } catch (error) {
    probing.abort(error);
    await lifecycle.shutdown();
    store?.close();
    unlock();
    throw error;
  }
}

/** The workspaces of all agents. */
export const workspacesOf = ({ agents }: Generation): Workspace[] =>
  [...agents.profiles.values()].map(({ environment }) => environment.workspace);
