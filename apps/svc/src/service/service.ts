/** The service without its ports: store, features, sandbox, tools and the agent. The daemon opens it; so does a lone command. */
import { randomBytes } from "node:crypto";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { type ActionHistories, type Agent, type Attachments, createExec } from "@svc/agent";
import type { CoreConfig, Home, LoadedConfig } from "@svc/config";
import { type ClientId, featureIdOf, type Logger, type Readings, SvcError, type SvcEvent } from "@svc/contract";
import { channelIdentity, proceduresIdentity } from "@svc/gateway/identity";
import { createGuardedFetch, type GuardedFetch } from "@svc/kit";
import { makeScratch } from "@svc/kit/files";
import { hasSandboxUser, SANDBOX_USER } from "@svc/kit/process";
import { systemClock } from "@svc/kit/system-clock";
import {
  createMessaging,
  type Messaging,
  type MessagingSettings,
  type RunProgram,
  type SpeechSettings,
  type TranscriptionSettings,
} from "@svc/messaging";
import {
  Activity,
  channelIdOf,
  createEventHub,
  currentScope,
  type EventHub,
  type FeatureStatus,
  type Lifecycle,
  type Registry,
  type StampedEvent,
} from "@svc/runtime";
import type { SopLibrary } from "@svc/sop";
import type { Store } from "@svc/store";
import type { OpenedContext, ServiceContext } from "./context.ts";
import type { FeaturePorts } from "./features.ts";
import type { Generation } from "./generation.ts";
import { type Governance, makeGovernance } from "./governance/governance.ts";
import type { LateFeaturePorts } from "./late-feature-ports.ts";
import { allowedTargetsOf, targetOf } from "./governance/channel-section.ts";
import { hiddenPaths } from "./confinement.ts";

export interface Service {
  readonly context: ServiceContext;
  readonly store: Store;
  readonly lifecycle: Lifecycle;
  readonly agent: Agent;
  /** Files that come with messages. */
  readonly attachments: Attachments;
  readonly messaging: Messaging;
  /** What features are handed of it. */
  readonly ports: FeaturePorts;
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

type Deps = Pick<Service, "context" | "store" | "lifecycle" | "agent" | "attachments" | "ports" | "actions" | "events">;

interface Inside {
  readonly ports: LateFeaturePorts;
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
  readonly ports: FeaturePorts;
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
    { context, store, lifecycle, agent, attachments, ports, actions, events }: Deps,
    { ports: late, library, generation, unlock, isDaemon, probing }: Inside,
  ) {
    this.context = context;
    this.store = store;
    this.lifecycle = lifecycle;
    this.agent = agent;
    this.attachments = attachments;
    this.ports = ports;
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
      publish: events.publish,
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
      tracer: lifecycle.tracer,
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

/** What one config makes of idempotency keys. */
export const idempotencyOf = ({ core }: LoadedConfig): { ttlMs: number; maxKeys: number } => ({
  ttlMs: core.gateway.idempotency_ttl_secs * 1000,
  maxKeys: core.gateway.idempotency_max_keys,
});

// The way out to the services of speech: guarded, and let through to the addresses that the config names.

/** Made anew when the config in force is another. */
function speechFetch(config: () => LoadedConfig, log: Logger): GuardedFetch {
  let of: LoadedConfig | undefined;
  let fetch: GuardedFetch;
  return async (url, options) => {
    const now = config();
    if (of !== now) {
      const { "security.net": net, transcription, tts } = now.core;
      fetch = createGuardedFetch({
        allowPrivate: net.allow_private,
        exempt: [transcription.base_url, tts.base_url],
        traceparent: () => currentScope().traceparent,
        log,
        clock: systemClock,
      });
      of = now;
    }
    return fetch(url, options);
  };
}

/** What one config makes of the way of messages: which channels there are, who answers, how often is tried again. */
function messagingSettings(config: LoadedConfig, registry: Registry, lifecycle: Lifecycle): MessagingSettings {
  const { core } = config;
  return {
    channels: new Map(registry.channels),
    isUp: (channel) => {
      const feature = registry.channelOwners.get(channel);
      return feature !== undefined && lifecycle.stateOf(feature) !== "failed";
    },
    agentOf: (channel) => (config.section(`channels_config.${channel}`) as { agent?: string } | undefined)?.agent,
    targetsOf: (channel) => ({
      allowed: allowedTargetsOf(config, channel),
      notification: targetOf(config, channel)?.id,
    }),
    maxAttempts: core.delivery.max_attempts,
    maxParallelTurns: core.agent.max_parallel_turns,
    transcription: transcriptionOf(core.transcription),
    speech: speechOf(core.tts),
    spokenAnswers: (channel) => core.tts.reply_in[channel] ?? core.tts.reply,
  };
}

function transcriptionOf(section: CoreConfig["transcription"]): TranscriptionSettings | undefined {
  if (!section.enabled) return undefined;
  const { base_url: baseUrl, api_key: apiKey, model, language, max_bytes: maxBytes } = section;
  return { command: commandOf(section), baseUrl, apiKey, model, language, maxBytes };
}

function speechOf(section: CoreConfig["tts"]): SpeechSettings | undefined {
  if (!section.enabled) return undefined;
  const { base_url: baseUrl, api_key: apiKey, model, voice, play, max_chars: maxChars } = section;
  return { command: commandOf(section), baseUrl, apiKey, model, voice, play, maxChars };
}

function commandOf({
  provider,
  command,
}: CoreConfig["transcription" | "tts"]): readonly [string, ...string[]] | undefined {
  const [program, ...more] = command ?? [];
  return provider === "command" && program !== undefined ? [program, ...more] : undefined;
}

// Programs of `[transcription]` and `[tts]`: each in the sandbox in force, in a folder of its own that goes with it.

/** `current`: the generation whose sandbox is in force when a program is started. */
function speechProgram(home: Home, current: () => Pick<Generation, "config" | "probe">): RunProgram {
  return async ({ command, files, ...request }) => {
    const { config, probe } = current();
    const sandbox = await probe.verdict;
    const section = config.core["security.sandbox"];
    // Root's limits bind nobody, and root is not needed to speak.
    const user =
      process.getuid?.() === 0 && isConfined(sandbox.effective) && hasSandboxUser() ? SANDBOX_USER : undefined;
    await using scratch = await makeScratch({ prefix: "svc-speech-", owner: user });
    const paths = new Map<string, string>();
    for (const [placeholder, { name, bytes }] of Object.entries(files)) {
      const path = join(scratch.path, name);
      await using file = await open(path, "wx", 0o600);
      await file.writeFile(bytes);
      // By its descriptor: the folder is that user's, who may put anything in its place.
      if (user) await file.chown(user.uid, user.gid);
      paths.set(placeholder, path);
    }
    const word = (text: string): string =>
      text.replaceAll(/\{([a-z]+)\}/g, (whole, placeholder: string) => paths.get(placeholder) ?? whole);
    const [program, ...more] = command;
    const exec = createExec({
      choice: sandbox,
      config: { ...section, network: false, timeout_secs: Math.max(section.timeout_secs, request.timeoutMs / 1000) },
      workspace: scratch.path,
      hidden: hiddenPaths(home, config),
      ...(user && { user }),
    });
    // The folder goes when this ends, not before.
    return await exec({ ...request, command: [program, ...more.map(word)], unasked: true });
  };
}

const isConfined = (effective: string): boolean => !["none", "unavailable"].includes(effective);

/** What happens inside, told to everybody who wants to know: observers, subscribers, the picture of the last hour. */
export interface ServiceEvents {
  readonly hub: EventHub;
  readonly activity: Activity;
  /** Never throws. With the id under which subscribers see it. */
  readonly publish: (event: SvcEvent) => StampedEvent;
  /** Of the lifecycle: a feature is in another state. */
  readonly onState: (status: FeatureStatus) => void;
}

interface EventDeps {
  readonly context: Pick<OpenedContext, "log" | "composition">;
  /** Tells the observers of features. */
  readonly observe: (event: SvcEvent) => void;
  /** Once it is open. */
  readonly devices: () => Store["devices"] | undefined;
}

export function openEvents({ context, observe, devices }: EventDeps): ServiceEvents {
  const { log, composition } = context;
  const deviceOf = (owner: ClientId): string | undefined => devices()?.ofClient(owner)?.id;
  const activity = new Activity(systemClock);
  const boot = randomBytes(6).toString("hex");
  const hub = createEventHub({ clock: systemClock, boot, log, redact: log.redact, deviceOf });
  const kinds = new Map(composition.catalogue.map(({ id, kind }) => [id, kind]));
  const channels = new Map(
    composition.features
      .filter((part) => kinds.get(featureIdOf(part)) === "channel")
      .map((part) => [part.id, channelIdOf(part)]),
  );
  const publish = (event: SvcEvent): StampedEvent => {
    activity.record(event);
    observe(event);
    return hub.publish(event);
  };
  return {
    hub,
    activity,
    publish,
    onState: ({ id: feature, state, reason }) => {
      const channel = channels.get(feature);
      if (channel !== undefined) publish({ type: "channel-health", channel, feature, state, reason });
    },
  };
}

/** How the service stands now, in numbers: what observability backends ask for. */
type ReadingsDeps = Pick<Service, "agent" | "events" | "lifecycle" | "messaging" | "store">;

/** `connections`: of the gateway, where there is one. */
function readingsOf({ agent, events, lifecycle, messaging, store }: ReadingsDeps, connections: number): Readings {
  const { inbox, outbox, oldestMs } = messaging.messageAdmin.counts();
  return {
    inbox: { count: inbox.waiting, oldestAgeMs: oldestMs.inbox },
    outbox: { count: outbox.waiting, oldestAgeMs: oldestMs.outbox },
    dead: { received: inbox.failed, toSend: outbox.dead },
    approvalsWaiting: store.approvals.countWaiting(),
    sopRuns: store.sopRuns.active().length,
    turnsRunning: agent.load().running,
    eventSubscribers: events.hub.subscribers,
    connections,
    devices: store.devices.all().length,
    features: lifecycle.features().map(({ id, state }) => ({ id, isUp: state === "running" })),
  };
}
