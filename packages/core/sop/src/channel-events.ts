/** Events of programs on this machine: told to subscribers, posted to channels, and the start of procedures. */
import { type ChannelEvent, type Clock, type Conversation, SvcError } from "@svc/contract";
import { keyOfConversation, splitText } from "@svc/kit";
import type { Delivery, NewDelivery, Store } from "@svc/store";
import type { ApprovalRegistry } from "./approvals/approvals.ts";
import { cut, oneLine } from "./approvals/plain-text.ts";
import type { Pending } from "./approvals/types.ts";
import { isStepKey } from "./runs/definition.ts";
import type { Sops } from "./runs/types.ts";

export interface ChannelEventDeps {
  readonly store: Pick<Store, "outbox" | "write">;
  readonly clock: Pick<Clock, "now">;
  readonly approvals: Pick<ApprovalRegistry, "requestIn" | "eventIdOf">;
  readonly sops: Pick<Sops, "dispatchIn" | "hasRun">;
  /** Called after the commit. Returns the event with its id. */
  readonly publish: (event: ChannelEvent) => { readonly id: string };
  /** Ids of the channels that there are, in this build or in another: an outside workflow names those it was written for. */
  readonly knownChannels: () => readonly string[];
  /** Undefined: it is not in the config. */
  readonly channel: (id: string) => NotifiedChannel | undefined;
  /** Takes the configured secrets out of what subscribers and chats are told. */
  readonly redact: (text: string) => string;
  /** Called after the commit that added these rows to the outbox. */
  readonly wake: (deliveries: readonly Delivery[]) => void;
}

/** Told by the event itself. */
const DASHBOARD = "dashboard";

const APPROVAL_REQUEST = "human_approval_request";
const BY = "a program on this machine";

export function createChannelEvents(parts: ChannelEventDeps): ChannelEvents {
  return {
    async post(event) {
      const { targets, skipped } = targetsOf(parts, event.channels);
      const tell = event.type === APPROVAL_REQUEST ? askIn : notifyIn;
      const { result, committed } = await parts.store.write(() => tell(parts, event, targets));
      committed();
      return { eventId: result(), skipped } satisfies PostedAnswer;
    },
  };
}

interface Target {
  readonly conversation: Conversation;
  readonly maxChars: number;
}

/** Throws BAD_REQUEST. */
function targetsOf(parts: ChannelEventDeps, names: readonly string[]): { targets: Target[]; skipped: string[] } {
  const known = new Set([...parts.knownChannels(), DASHBOARD]);
  if (!names.every((name) => known.has(name))) {
    throw new SvcError("BAD_REQUEST", "`channels` lists an unknown channel.", {
      hint: `Known channels: ${[...known].join(", ")}.`,
    });
  }
  const targets: Target[] = [];
  const skipped: string[] = [];
  for (const name of new Set(names)) {
    if (name === DASHBOARD) continue;
    const { isConfigured, target, backlog, maxChars } = parts.channel(name) ?? NOWHERE;
    if (isConfigured && target && backlog < MOST_WAITING) targets.push({ conversation: target, maxChars });
    else skipped.push(name);
  }
  return { targets, skipped };
}

/** Nobody reads so many; a program that runs wild must not fill the disk with what its chat will never be sent. */
const MOST_WAITING = 1_000;
const NOWHERE: NotifiedChannel = { isConfigured: false, target: undefined, backlog: 0, maxChars: 0 };

/** Inside a transaction. The result is called after it. */
function askIn(parts: ChannelEventDeps, event: PostedEvent, targets: readonly Target[]): Pending<() => string> {
  const { approvals, sops } = parts;
  const { runId, stepId, title = "", message = "", channels, approveKeywords, rejectKeywords } = event;
  if (runId === undefined || stepId === undefined) {
    throw new SvcError("BAD_REQUEST", "run_id and step_id are missing: an approval request has both.");
  }
  // Who takes the key before the step comes to it would have the run fail.
  if (isStepKey(stepId) && sops.hasRun(runId)) {
    throw new SvcError("APPROVAL_EXISTS", "This run asks for its steps itself.", { hint: "Take another step_id." });
  }
  const requested = approvals.requestIn({
    runId,
    stepId,
    origin: "external",
    title: title.trim() === "" ? "Approval request" : title,
    message,
    channels,
    askedBy: BY,
    conversations: targets.map(({ conversation }) => conversation),
    ...(approveKeywords && { approveKeywords }),
    ...(rejectKeywords && { rejectKeywords }),
  });
  const { approval, state } = requested.result;
  // The same again is no event: it asks nobody and starts nothing.
  const started = state === "new" ? startIn(parts, event) : undefined;
  return {
    result: () => approvals.eventIdOf(approval),
    committed() {
      requested.committed();
      started?.committed();
    },
  };
}

/** As `askIn`. */
function notifyIn(parts: ChannelEventDeps, event: PostedEvent, targets: readonly Target[]): Pending<() => string> {
  const { store, clock, publish, redact, wake } = parts;
  const { type, channels } = event;
  const title = event.title && redact(event.title);
  const message = event.message && redact(event.message);
  const said = [title, message].filter((part) => part !== undefined && part.trim() !== "");
  const text = said.length > 0 ? said.join("\n\n") : type;
  const deliveries = store.outbox.add(
    targets.flatMap((target) => rowsOf(text, target)),
    clock.now(),
  );
  const started = startIn(parts, event);
  let eventId = "";
  return {
    result: () => eventId,
    committed() {
      // First of all: what it starts has events of its own.
      eventId = publish({ type: "channel_event", event: type, title, message, channels }).id;
      started.committed();
      wake(deliveries);
    },
  };
}

function startIn({ sops }: ChannelEventDeps, { type, json }: PostedEvent): Pending<unknown> {
  const by = `the channel event ${cut(oneLine(type), 100)}`;
  return sops.dispatchIn({ source: "channel_event", topic: type, payload: json }, { by });
}

/** As many messages as the channel's limit makes of it. */
function rowsOf(text: string, { conversation, maxChars }: Target): NewDelivery[] {
  const conversationKey = keyOfConversation(conversation);
  return splitText(text, maxChars).map((part) => ({ conversation, conversationKey, text: part, files: [] }));
}

/** `POST /api/channel-events`, apart from HTTP: an event of a program on this machine, for people and for procedures. */
export interface PostedEvent {
  readonly type: string;
  readonly title: string | undefined;
  readonly message: string | undefined;
  readonly channels: readonly string[];
  /** Of `human_approval_request`. */
  readonly runId: string | undefined;
  readonly stepId: string | undefined;
  readonly approveKeywords: readonly string[] | undefined;
  readonly rejectKeywords: readonly string[] | undefined;
  /** The body as it came: the payload of procedures. */
  readonly json: string;
}

export interface PostedAnswer {
  readonly eventId: string;
  /** Known channels that are not configured, have no `notification_target`, or have a full backlog. */
  readonly skipped: readonly string[];
}

export interface ChannelEvents {
  /** Resolves once all of it is on disk. Throws BAD_REQUEST (with the field), APPROVAL_EXISTS, STORE_*. */
  post(event: PostedEvent): Promise<PostedAnswer>;
}

/** What is known of a channel that somebody names. */
export interface NotifiedChannel {
  /** In the config and in this build. It need not be connected: what it can't send yet waits in the outbox. */
  readonly isConfigured: boolean;
  /** `notification_target` of its section. */
  readonly target: Conversation | undefined;
  /** Messages that wait to be sent there. */
  readonly backlog: number;
  /** Longest text of one message. */
  readonly maxChars: number;
}
