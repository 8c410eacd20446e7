/** The service without its doors: store, features, sandbox, tools and the agent. The daemon opens it; so does a lone command. */
import type { ActionHistories, Agent, Attachments } from "@svc/agent";
import { SvcError } from "@svc/contract";
import { createMessaging, type Messaging } from "@svc/messaging";
import { channelIdentity, proceduresIdentity } from "@svc/gateway/identity";
import { type Lifecycle, type LoadedConfig, systemClock } from "@svc/kernel";
import type { SopLibrary } from "@svc/sop";
import type { Store } from "@svc/store";
import type { ServiceContext } from "./context.ts";
import type { ServiceEvents } from "./events.ts";
import type { FeatureDoors } from "./features.ts";
import type { Generation } from "./generation.ts";
import { type Governance, makeGovernance } from "./governance/governance.ts";
import { idempotencyOf } from "./idempotency.ts";
import type { LateDoors } from "./late-doors.ts";
import { messagingSettings } from "./messaging-settings.ts";
import { readingsOf } from "./readings.ts";
import { speechFetch } from "./speech-fetch.ts";
import { speechProgram } from "./speech-program.ts";

export interface Service {
  readonly context: ServiceContext;
  readonly store: Store;
  readonly lifecycle: Lifecycle;
  readonly agent: Agent;
  /** Files that come with messages. */
  readonly attachments: Attachments;
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
  countConnections: () => number;
  reload: () => Promise<unknown>;
  /** Features whose survey has another answer are made anew, soon. Never throws. */
  refresh: () => void;
  /** Takes up what the last process left, then runs. */
  start(): void;
  /** Begins nothing more; what runs has `graceMs`. */
  stop(graceMs: number): Promise<void>;
  /** From here on `next` is in force. Resolves when what was being sent by the old channels is. Neither throws nor rejects. */
  adopt(next: Generation): Promise<void>;
  /** Stops the features, closes the store, calls `meanwhile`, and lets go of the home. */
  close(meanwhile?: () => void): Promise<void>;
}

type Parts = Pick<
  Service,
  "context" | "store" | "lifecycle" | "agent" | "attachments" | "doors" | "actions" | "events"
>;

interface Inside {
  readonly doors: LateDoors;
  readonly library: SopLibrary;
  readonly generation: Generation;
  readonly unlock: () => void;
  readonly isDaemon: boolean;
  /** Ends the first probe of sandboxes. */
  readonly probing: AbortController;
}

export class OpenService implements Service {
  readonly context: ServiceContext;
  readonly store: Store;
  readonly lifecycle: Lifecycle;
  readonly agent: Agent;
  readonly attachments: Attachments;
  readonly messaging: Messaging;
  readonly doors: FeatureDoors;
  readonly actions: ActionHistories;
  readonly events: ServiceEvents;
  readonly governance: Governance;
  readonly isDaemon: boolean;
  /** Set by whoever opens the gateway. */
  countConnections: () => number = () => 0;
  /** Set by whoever can put a changed config into force. */
  reload: () => Promise<unknown> = async () => {};
  /** The same; nothing changes in the life of a command. */
  refresh: () => void = () => {};
  readonly #unlock: () => void;
  readonly #probing: AbortController;
  #generation: Generation;

  constructor(
    { context, store, lifecycle, agent, attachments, doors, actions, events }: Parts,
    { doors: late, library, generation, unlock, isDaemon, probing }: Inside,
  ) {
    this.context = context;
    this.store = store;
    this.lifecycle = lifecycle;
    this.agent = agent;
    this.attachments = attachments;
    this.doors = doors;
    this.actions = actions;
    this.events = events;
    this.#generation = generation;
    this.isDaemon = isDaemon;
    this.#unlock = unlock;
    this.#probing = probing;
    this.governance = makeGovernance({
      context,
      lifecycle,
      store,
      events,
      library,
      reload: () => this.reload(),
      clientId: proceduresIdentity(),
      generation: () => this.#generation,
      agent: () => agent,
      messaging: () => this.messaging,
      turnEnded: (turnId) => late.turnEnded(turnId),
    });
    const { approvals, questions, prompts } = this.governance;
    this.messaging = createMessaging({
      store,
      agent,
      clock: systemClock,
      log: context.log,
      instruments: lifecycle.instruments,
      redact: context.log.redact,
      publish: events.publish,
      identity: channelIdentity((clientId) => store.devices.ofClient(clientId) !== undefined),
      settings: messagingSettings(generation.config, generation.registry, lifecycle),
      workspaceOf: (name) => this.#generation.agents.profiles.get(name)?.environment.workspace,
      fetch: speechFetch(() => this.config, context.log),
      runProgram: speechProgram(context.home, () => this.#generation),
      replies: approvals.replies,
      prompts,
      ...(isDaemon && { askIn: (where) => questions.inConversation(where) }),
    });
    late.open({
      agent,
      messaging: this.messaging,
      governance: this.governance,
      registry: () => this.#generation.registry,
      readings: () => readingsOf(this, this.countConnections()),
      publish: (event) => void events.publish(event),
      refresh: () => this.refresh(),
    });
  }

  get generation(): Generation {
    return this.#generation;
  }

  get config(): LoadedConfig {
    return this.#generation.config;
  }

  adopt(next: Generation): Promise<void> {
    this.#generation = next;
    this.context.follow(next.config);
    this.agent.reconfigure(next.agents);
    this.store.idempotency.configure(idempotencyOf(next.config));
    return this.messaging.reconfigure(messagingSettings(next.config, next.registry, this.lifecycle));
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
    this.#probing.abort(new SvcError("DRAINING"));
    await this.stop(0);
    await this.lifecycle.shutdown();
    this.store.close();
    meanwhile();
    this.#unlock();
  }
}
