/**
 * What stands between an event and an act: approvals, procedures, events of programs on this machine. Put together around
 * an agent and its messaging, which are made after it and looked up when they are needed.
 */
import { type Agent, type AskPerson, isPostponed } from "@svc/agent";
import type { LoadedConfig } from "@svc/config";
import { type ClientId, type Conversation, DEFAULT_MAX_CHARS, type SvcEvent } from "@svc/contract";
import type { SopAuthor } from "@svc/gateway";
import { systemClock } from "@svc/kit/system-clock";
import type { AskPlace, Messaging, PromptSource } from "@svc/messaging";
import { channelIdsOf, type Lifecycle, type StampedEvent } from "@svc/runtime";
import {
  type ApprovalRegistry,
  askForTool,
  type AskForToolDeps,
  type ChannelAnswers,
  type ChannelEvents,
  createApprovals,
  createChannelEvents,
  createSops,
  cronMarks,
  lateCronSchedule,
  type NotifiedChannel,
  outcomeText,
  promptIdOf,
  promptParts,
  type SopEngine,
  type SopLibrary,
} from "@svc/sop";
import type { Approval, Store } from "@svc/store";
import type { ServiceContext } from "../context.ts";
import type { Generation } from "../generation.ts";
import { AlwaysRules } from "./always-rules.ts";
import { sopAuthor } from "./procedures.ts";
import { stepWorker } from "./step-worker.ts";
import { approversOf, targetOf, targetsOf } from "./channel-section.ts";

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

interface GovernanceDeps {
  readonly context: ServiceContext;
  readonly lifecycle: Pick<Lifecycle, "stateOf">;
  readonly store: Store;
  readonly publish: (event: SvcEvent) => StampedEvent;
  readonly generation: () => Generation;
  readonly agent: () => Agent;
  readonly messaging: () => Messaging;
  /** A step of a procedure that a child agent did is over. */
  readonly turnEnded: (turnId: string) => void;
  /** Whom turns of procedures belong to. */
  readonly clientId: ClientId;
  readonly library: SopLibrary;
  /** Puts a changed config file into force. */
  readonly reload: () => Promise<unknown>;
}

export function makeGovernance(deps: GovernanceDeps): Governance {
  const { context, store, publish, generation, clientId, library } = deps;
  const { log } = context;
  const { redact } = log;
  const core = (): LoadedConfig["core"] => generation().config.core;
  const channels: NotifiedChannels = notifiedChannels(deps);
  const wake: Messaging["wake"] = (deliveries) => deps.messaging().wake(deliveries);
  const shared = { store, clock: systemClock, log, redact, wake };
  const rules = new AlwaysRules({
    store,
    audit: () => sops.audit,
    config: () => generation().config,
    edit: context.edit,
    reload: deps.reload,
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
        closePrompts(approval, store, deps.messaging());
      };
    },
  });
  const questions = toolQuestions({
    approvals: () => approvals,
    store,
    redact,
    timeoutMs: () => core().approvals.tool_timeout_secs * 1000,
    whose: (turnId) => whose(deps, turnId),
    targets: channels.targets,
  });
  const sops: SopEngine = createSops({
    ...shared,
    publish,
    library,
    approvals,
    worker: stepWorker({
      agent: deps.agent,
      generation,
      store,
      clientId,
      redact,
      ask: questions.ofProcedure,
      turnEnded: deps.turnEnded,
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

function whose({ agent, store }: GovernanceDeps, turnId: string): string {
  const turn = agent()
    .sessions.running()
    .find((running) => running.turnId === turnId);
  if (!turn) return "the agent";
  const device = store.devices.ofClient(turn.clientId);
  return device ? `the agent, for ${device.name}` : `the agent, in conversation ${turn.sessionName}`;
}

/** Questions as channels post them, and take them back. */
const MAX_OUTCOME_CHARS = 300;
const LABELS = { approve: "Approve", reject: "Reject" } as const;

const promptSource = (store: Pick<Store, "approvals">): PromptSource => ({
  promptOf(n) {
    const approval = store.approvals.read(n);
    if (!approval) return undefined;
    const isWaiting = approval.status === "waiting";
    return {
      prompt: { id: promptIdOf(approval), ...promptParts(approval), ...LABELS },
      isWaiting,
      ...(!isWaiting && { outcome: outcomeText(approval, MAX_OUTCOME_CHARS) }),
    };
  },
  posted(_approval, delivery, { opened }) {
    if (opened) store.approvals.setOpened(delivery, opened);
  },
});

/** Takes the buttons off wherever the question was posted. */
function closePrompts(approval: Approval, store: Pick<Store, "outbox">, messaging: Messaging): void {
  const outcome = outcomeText(approval, MAX_OUTCOME_CHARS);
  for (const { delivery } of approval.prompts) {
    const posted = store.outbox.read(delivery);
    // One that is not sent yet is never posted any more.
    if (posted?.state !== "sent") continue;
    const { conversation, platformId, text } = posted;
    messaging.closePrompt({ conversation, platformId, text }, outcome);
  }
}

/** What approvals and notifications go by of the channels, as the config in force says. */
interface ChannelDeps extends Pick<GovernanceDeps, "context" | "lifecycle" | "generation"> {
  readonly messaging: () => Pick<Messaging, "backlog">;
}

interface NotifiedChannels {
  /** Ids of all that the catalogue names, in this build or not. */
  known(): readonly string[];
  channel(id: string): NotifiedChannel | undefined;
  answers(id: string): ChannelAnswers;
  /** The `notification_target` of every channel in service. */
  targets(): readonly Conversation[];
}

function notifiedChannels({ context, lifecycle, generation, messaging }: ChannelDeps): NotifiedChannels {
  const { catalogue } = context.composition;
  const known = catalogue.filter(({ kind }) => kind === "channel").flatMap(channelIdsOf);
  const maxChars = (id: string): number => generation().registry.channels.get(id)?.text?.maxChars ?? DEFAULT_MAX_CHARS;
  const isRunning = (id: string): boolean => {
    const owner = generation().registry.channelOwners.get(id);
    return owner !== undefined && lifecycle.stateOf(owner) !== "failed";
  };
  return {
    known: () => known,
    channel(id) {
      const target = targetOf(generation().config, id);
      const backlog = target ? messaging().backlog(target) : 0;
      const isConfigured = generation().registry.channelOwners.has(id);
      return { isConfigured, target, backlog, maxChars: maxChars(id) };
    },
    answers: (id) => ({ approvers: approversOf(generation().config, id), maxChars: maxChars(id) }),
    targets: () => targetsOf(generation().config).filter(({ channel }) => isRunning(channel)),
  };
}

/** Tool calls that wait for a person: who asks, and where, beside the page and the command line. */
interface QuestionDeps {
  readonly approvals: () => ApprovalRegistry;
  readonly store: Store;
  readonly redact: (text: string) => string;
  readonly timeoutMs: () => number;
  /** For a person: whose turn it is. */
  readonly whose: (turnId: string) => string;
  /** Where the questions of procedures are posted. */
  readonly targets: () => readonly Conversation[];
}

interface Questions {
  /** Of a turn that came by HTTP or from the page. */
  readonly anywhere: AskPerson;
  /** The same, for somebody who asks a person himself as well: `onWaiting` says when. */
  alsoBy(onWaiting: () => void): AskPerson;
  /** In the conversation that caused the call, if that has one. */
  inConversation(where: AskPlace): AskPerson;
  ofProcedure(askedBy: string): AskPerson;
}

function toolQuestions({ approvals, store, redact, timeoutMs, whose, targets }: QuestionDeps): Questions {
  const asker = (placeOf: AskForToolDeps["placeOf"], onWaiting = (): void => {}): AskPerson => {
    const deps = { store, redact, timeoutMs, isPostponed, placeOf, onWaiting };
    return (question, signal) => askForTool({ approvals: approvals(), ...deps })(question, signal);
  };
  const nowhere: AskForToolDeps["placeOf"] = ({ turnId }) => ({ askedBy: whose(turnId), conversations: [] });
  return {
    anywhere: asker(nowhere),
    alsoBy: (onWaiting) => asker(nowhere, onWaiting),
    inConversation: ({ conversation, sender }) => {
      if (!conversation) return asker(nowhere);
      const askedBy = `the agent, for ${sender} on ${conversation.channel}`;
      return asker(() => ({ askedBy, asker: sender, conversations: [conversation] }));
    },
    ofProcedure: (askedBy) => asker(() => ({ askedBy, conversations: targets() })),
  };
}
