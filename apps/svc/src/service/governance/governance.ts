/**
 * What stands between an event and an act: approvals, procedures, events of programs on this machine. Put together around
 * an agent and its messaging, which are made after it and looked up when they are needed.
 */
import type { Messaging } from "@svc/messaging";
import type { SopAuthor } from "@svc/gateway";
import type { ClientId } from "@svc/contract";
import { type LoadedConfig, systemClock } from "@svc/kernel";
import {
  type ApprovalRegistry,
  type ChannelEvents,
  createApprovals,
  createChannelEvents,
  createSops,
  cronMarks,
  lateCronSchedule,
  type SopEngine,
  type SopLibrary,
} from "@svc/sop";
import type { Store } from "@svc/store";
import type { ServiceEvents } from "../events.ts";
import type { Generation } from "../generation.ts";
import type { Service } from "../service.ts";
import { AlwaysRules } from "./always-rules.ts";
import { type NotifiedChannels, notifiedChannels } from "./notified-channels.ts";
import { closePrompts, promptSource } from "./prompts.ts";
import { type Questions, toolQuestions } from "./questions.ts";
import { sopAuthor } from "./sop-author.ts";
import { stepWorker } from "./step-worker.ts";

export interface Governance {
  readonly approvals: ApprovalRegistry;
  readonly sops: SopEngine;
  readonly library: SopLibrary;
  readonly channelEvents: ChannelEvents;
  readonly questions: Questions;
  readonly prompts: ReturnType<typeof promptSource>;
  readonly rules: AlwaysRules;
  readonly author: SopAuthor;
}

export interface GovernanceParts extends Pick<Service, "context" | "lifecycle"> {
  readonly store: Store;
  readonly events: ServiceEvents;
  readonly generation: () => Generation;
  readonly agent: () => Service["agent"];
  readonly messaging: () => Messaging;
  /** A step of a procedure that a child agent did is over. */
  readonly turnEnded: (turnId: string) => void;
  /** Whom turns of procedures belong to. */
  readonly clientId: ClientId;
  readonly library: SopLibrary;
  /** Puts a changed config file into force. */
  readonly reload: () => Promise<unknown>;
}

export function makeGovernance(parts: GovernanceParts): Governance {
  const { context, store, events, generation, clientId, library } = parts;
  const { log } = context;
  const { redact } = log;
  const core = (): LoadedConfig["core"] => generation().config.core;
  const channels: NotifiedChannels = notifiedChannels(parts);
  const wake: Messaging["wake"] = (deliveries) => parts.messaging().wake(deliveries);
  const shared = { store, clock: systemClock, log, redact, wake };
  const { publish } = events;
  const rules = new AlwaysRules({
    store,
    audit: () => sops.audit,
    config: () => generation().config,
    edit: context.edit,
    reload: parts.reload,
  });
  const approvals = createApprovals({
    ...shared,
    keepRule: (rule, answered) => rules.keep(rule, answered),
    publish,
    settings: channels.answers,
    expireMs: () => core().approvals.expire_secs * 1000,
    onRequested: (approval) => sops.onRequested(approval),
    onSettled: (approval) => {
      const goOn = sops.onSettled(approval);
      return () => {
        goOn();
        closePrompts(approval, store, parts.messaging());
      };
    },
  });
  const questions = toolQuestions({
    approvals: () => approvals,
    store,
    redact,
    timeoutMs: () => core().approvals.tool_timeout_secs * 1000,
    whose: (turnId) => whose(parts, turnId),
    targets: channels.targets,
  });
  const sops: SopEngine = createSops({
    ...shared,
    publish,
    library,
    approvals,
    worker: stepWorker({
      agent: parts.agent,
      generation,
      store,
      clientId,
      redact,
      ask: questions.ofProcedure,
      turnEnded: parts.turnEnded,
    }),
    cron: lateCronSchedule({ clock: systemClock, log, marks: cronMarks(store), library }),
    settings: () => ({ maxConcurrentTotal: core().sop.max_concurrent_total }),
    places: channels.targets,
  });
  const channelEvents = createChannelEvents({
    ...shared,
    publish,
    approvals,
    sops,
    knownChannels: channels.known,
    channel: channels.channel,
  });
  const author = sopAuthor({
    home: context.home,
    config: () => generation().config,
    tools: () =>
      generation()
        .registry.tools.list()
        .map(({ name }) => name),
    library,
    store,
    audit: () => sops.audit,
    redact,
  });
  return { approvals, sops, library, channelEvents, questions, prompts: promptSource(store), rules, author };
}

function whose({ agent, store }: GovernanceParts, turnId: string): string {
  const turn = agent()
    .sessions.running()
    .find((running) => running.turnId === turnId);
  if (!turn) return "the agent";
  const device = store.devices.ofClient(turn.clientId);
  return device ? `the agent, for ${device.name}` : `the agent, in conversation ${turn.sessionName}`;
}
