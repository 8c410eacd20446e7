/** The service without its doors: store, features, sandbox, tools and the agent. The daemon opens it; so does a lone command. */
import {
  ActionHistories,
  type Agent,
  channelSendTool,
  createAgent,
  createMessaging,
  type Messaging,
  noneBackend,
  removeLeftovers,
} from "@svc/agent";
import { CORE_PATHS } from "@svc/gateway/core-paths";
import { channelIdentity, proceduresIdentity } from "@svc/gateway/identity";
import { Lifecycle, type LoadedConfig, systemClock } from "@svc/kernel";
import { type SopLibrary, sopTools } from "@svc/sop";
import { lockHome, openStore, type Store } from "@svc/store";
import type { OpenedContext, ServiceContext } from "./context.ts";
import { openEvents, type ServiceEvents } from "./events.ts";
import { enabledFeatures, type FeatureDoors } from "./features.ts";
import { type Generation, makeGeneration } from "./generation.ts";
import { type Governance, makeGovernance } from "./governance/governance.ts";
import { openLibrary } from "./governance/library.ts";
import { LateDoors } from "./late-doors.ts";
import { messagingSettings } from "./messaging-settings.ts";
import { transcriptionFetch } from "./transcription-fetch.ts";
import { workspacesOf } from "./workspaces.ts";

export interface Service {
  readonly context: ServiceContext;
  readonly store: Store;
  readonly lifecycle: Lifecycle;
  readonly agent: Agent;
  readonly messaging: Messaging;
  /** What features are handed of it. */
  readonly doors: FeatureDoors;
  readonly actions: ActionHistories;
  readonly events: ServiceEvents;
  /** What is in force now. Never keep it over an `await`: a reload swaps it. */
  readonly generation: Generation;
  /** The config in force now. */
  readonly config: LoadedConfig;
  readonly governance: Governance;
  /** Others can reach it: the page, the command line. */
  readonly isDaemon: boolean;
  /** Takes up what the last process left, then runs. */
  start(): void;
  /** Begins nothing more; what runs has `graceMs`. */
  stop(graceMs: number): Promise<void>;
  /** From here on `next` is in force. Never throws. */
  adopt(next: Generation): void;
  /** Stops the features, closes the store, calls `meanwhile`, and lets go of the home. */
  close(meanwhile?: () => void): Promise<void>;
}

export interface ServiceOptions {
  readonly signal: AbortSignal;
  /** Others can reach it: the page, the command line. */
  readonly isDaemon: boolean;
}

/** Throws ALREADY_RUNNING, STORE_*, FEATURE_CONFLICT, CONFIG_INVALID. */
export async function openService(opened: OpenedContext, { signal, isDaemon }: ServiceOptions): Promise<Service> {
  const { home, log, config } = opened;
  let store: Store | undefined;
  let service: Service | undefined;
  const doors = new LateDoors();
  const events: ServiceEvents = openEvents({
    context: opened,
    observe: (event) => lifecycle.publish(event),
    devices: () => store?.devices,
  });
  const lifecycle: Lifecycle = new Lifecycle({
    definitions: opened.composition.features,
    enabled: enabledFeatures(opened, config, doors),
    core: {
      sandboxes: [noneBackend],
      tools: [channelSendTool(() => doors.messaging().channelSend), ...sopTools(doors)],
    },
    reserved: { paths: CORE_PATHS },
    log,
    clock: systemClock,
    redact: log.redact,
    onState: events.onState,
  });
  await lifecycle.construct();
  const unlock = lockHome(home.lock);
  try {
    store = doors.openStore(openStore({ file: home.database, clock: systemClock, idempotency: idempotencyOf(config) }));
    const registry = await lifecycle.register(signal);
    const actions = new ActionHistories(store.toolCalls, systemClock);
    const library = await openLibrary(opened, () => service?.config ?? config);
    const made = { context: opened, config, registry, store, actions, signal };
    const generation = await makeGeneration({ ...made, hasProcedures: library.list().length > 0 });
    await removeLeftovers(workspacesOf(generation), log);
    const agent = createAgent({
      agents: generation.agents,
      store,
      clock: systemClock,
      log,
      redact: log.redact,
      partialSecret: log.partialSecret,
      publish: events.publish,
      isListened: () => events.hub.subscribers > 0,
      // A command has the home to itself: nobody else could answer.
      ...(isDaemon && { ask: (question, gone) => doors.governance().questions.anywhere(question, gone) }),
    });
    const parts = { context: opened, store, lifecycle, agent, doors, actions, events };
    service = new OpenService(parts, { doors, library, generation, unlock, isDaemon });
    return service;
  } catch (error) {
    await lifecycle.shutdown();
    store?.close();
    unlock();
    throw error;
  }
}

type Parts = Pick<Service, "context" | "store" | "lifecycle" | "agent" | "doors" | "actions" | "events">;

interface Inside {
  readonly doors: LateDoors;
  readonly library: SopLibrary;
  readonly generation: Generation;
  readonly unlock: () => void;
  readonly isDaemon: boolean;
}

class OpenService implements Service {
  readonly context: ServiceContext;
  readonly store: Store;
  readonly lifecycle: Lifecycle;
  readonly agent: Agent;
  readonly messaging: Messaging;
  readonly doors: FeatureDoors;
  readonly actions: ActionHistories;
  readonly events: ServiceEvents;
  readonly governance: Governance;
  readonly isDaemon: boolean;
  readonly #unlock: () => void;
  #generation: Generation;

  constructor(
    { context, store, lifecycle, agent, doors, actions, events }: Parts,
    { doors: late, library, generation, unlock, isDaemon }: Inside,
  ) {
    this.context = context;
    this.store = store;
    this.lifecycle = lifecycle;
    this.agent = agent;
    this.doors = doors;
    this.actions = actions;
    this.events = events;
    this.#generation = generation;
    this.isDaemon = isDaemon;
    this.#unlock = unlock;
    this.governance = makeGovernance({
      context,
      lifecycle,
      store,
      events,
      library,
      clientId: proceduresIdentity(),
      generation: () => this.#generation,
      agent: () => agent,
      messaging: () => this.messaging,
    });
    const { approvals, questions, prompts } = this.governance;
    this.messaging = createMessaging({
      store,
      agent,
      clock: systemClock,
      log: context.log,
      redact: context.log.redact,
      publish: events.publish,
      identity: channelIdentity(),
      settings: messagingSettings(generation.config, generation.registry, lifecycle),
      workspaceOf: (name) => this.#generation.agents.profiles.get(name)?.environment.workspace,
      fetch: transcriptionFetch(() => this.config, context.log),
      replies: approvals.replies,
      prompts,
      ...(isDaemon && { askIn: (where) => questions.inConversation(where) }),
    });
    late.open(this.messaging, this.governance, () => this.#generation.registry);
  }

  get generation(): Generation {
    return this.#generation;
  }

  get config(): LoadedConfig {
    return this.#generation.config;
  }

  adopt(next: Generation): void {
    this.#generation = next;
    this.context.follow(next.config);
    this.agent.reconfigure(next.agents);
    this.messaging.reconfigure(messagingSettings(next.config, next.registry, this.lifecycle));
    this.store.idempotency.configure(idempotencyOf(next.config));
  }

  start(): void {
    const { approvals, sops } = this.governance;
    approvals.start();
    sops.start();
    this.messaging.start();
  }

  async stop(graceMs: number): Promise<void> {
    const { approvals, sops } = this.governance;
    approvals.stop();
    await Promise.all([sops.stop(graceMs), this.messaging.stop(graceMs)]);
  }

  async close(meanwhile: () => void = () => {}): Promise<void> {
    await this.stop(0);
    await this.lifecycle.shutdown();
    this.store.close();
    meanwhile();
    this.#unlock();
  }
}

const idempotencyOf = ({ core }: LoadedConfig): { ttlMs: number; maxKeys: number } => ({
  ttlMs: core.gateway.idempotency_ttl_secs * 1000,
  maxKeys: core.gateway.idempotency_max_keys,
});
