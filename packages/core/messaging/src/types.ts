/**
 * The durable way of a message: kept → turn in its conversation → answer in the outbox, in one transaction with the turn →
 * delivered. What is kept survives a kill at any instant; what the platform has accepted is not sent again.
 */
import {
  type Channel,
  type ClientId,
  type Conversation,
  type ErrorCode,
  type Inbound,
  type Json,
  type Kept,
  type MediaKind,
  type PostedPrompt,
  type Prompt,
  type Receipt,
  type ReceivedWith,
  type Speech,
} from "@svc/contract";
import type { Arrival, Arrived, Author, Delivery, InboxMessage, MessageCounts, MessageFilter, Store } from "@svc/store";

export interface DeliveryFailure {
  readonly message: string;
  /** What to do now. */
  readonly hint: string | undefined;
}

export interface Messaging {
  /**
   * Resolves once everything is on disk, and only then may the platform be told. Rejects with STORE_*, or with BUSY while
   * too much is waiting, in all or in one of its conversations: then nothing is kept.
   */
  accept(arrival: Arrival, inTransaction?: InTransaction): Promise<Arrived>;
  /** `FeatureContext.receive` of one channel. */
  receive(
    channel: string,
    messages: readonly Inbound[],
    inTransaction?: InTransaction,
    more?: Pick<ReceivedWith, "withdrawn" | "ended">,
  ): Promise<readonly Kept[]>;
  /** Takes up what the last process left, then runs. */
  start(): void;
  /**
   * A person answers in the place of the model, to the people who wrote in the conversation. Resolves once it is on disk. Rejects
   * with CHANNEL_UNKNOWN, CHANNEL_CANNOT, TURN_RUNNING, STORE_*; then nothing has changed.
   */
  replyByHand(reply: ByHand): Promise<SaidByHand>;
  /** Called after the commit of a transaction in which somebody else put these into the outbox. */
  wake(deliveries: readonly Pick<Delivery, "n" | "conversationKey" | "conversation" | "state">[]): void;
  /** How many deliveries wait for a conversation. */
  backlog(conversation: Conversation): number;
  /** Takes the buttons off, where the channel can. Nothing waits for it; what goes wrong is in the log. */
  closePrompt(posted: PostedPrompt, outcome: string): void;
  /** Nothing more is done for somebody who asked by HTTP and did not wait: he was shut out. Never rejects. */
  shutOut(owner: ClientId): Promise<void>;
  /** From here on these channels and settings are in force. Resolves when what was being sent with the old ones is. Never rejects. */
  reconfigure(settings: MessagingSettings): Promise<void>;
  /**
   * Begins nothing new. Turns that wait for a person are called off at once (`Agent.drain`). Resolves when running turns and sends have ended, or after `graceMs` with them aborted.
   */
  stop(graceMs: number): Promise<void>;
  readonly messageAdmin: MessageAdmin;
  /** Why the last attempt to deliver a message failed, in the channel's words; undefined: none did lately in this process. */
  failureOf(messageId: string): DeliveryFailure | undefined;
  /** `FeatureContext.speech`. */
  readonly speech: Speech;
  /** What the tool `channel_send` works with. */
  readonly channelSend: ChannelSendDeps;
}

/**
 * Runs inside the transaction that keeps an arrival, and is kept with it or not at all; whatever it throws, nothing is kept.
 * It may run again when that transaction is tried again. The result is called once everything is on disk.
 */
export type InTransaction = (arrival: Arrival, arrived: Arrived) => (() => void) | undefined;

/** Who a channel's people are, to tools and sessions. Only the gateway mints; this is handed in. */
export interface ChannelIdentity {
  /** Owns the conversations of a channel. */
  channel(channel: string): ClientId;
  /** One person there. */
  sender(channel: string, sender: string): ClientId;
  /** Whoever asked by HTTP and does not wait, read back from what was kept (`sessionMessageOf`). */
  ofSession(
    owner: string,
    turnId: string,
  ): {
    readonly owner: ClientId;
    /** Who the tools see. */
    readonly clientId: ClientId;
    /** Was shut out since. */
    readonly isGone: boolean;
  };
}

/** Messages that answer a question of ours instead of asking one. */
export interface ReplyTaker {
  /**
   * Cheap: whether the message would settle something that waits in its conversation. `receivedAtMs`: what was asked later than
   * that is no question that its sender has seen.
   */
  takes(inbound: Inbound, receivedAtMs: number): boolean;
  /**
   * Inside the transaction that ends the message. Undefined: it settles nothing, or not any more, and is a message like any
   * other.
   */
  take(inbound: Inbound, receivedAtMs: number): TakenReply | undefined;
}

export interface TakenReply {
  /** What the sender is told; undefined: nothing. */
  readonly text: string | undefined;
  /** Call it once the transaction is on disk. */
  committed(): void;
}

/** Questions that deliveries ask (`NewDelivery.approval`). */
export interface PromptSource {
  /** Asked before each try to send it. Undefined: there is none. */
  promptOf(approval: number): PromptState | undefined;
  /** Inside the transaction that notes that the platform has it. */
  posted(approval: number, delivery: number, receipt: Receipt): void;
}

export interface PromptState {
  readonly prompt: Prompt;
  /** One that does not is never posted. */
  readonly isWaiting: boolean;
  /** How it ended, for a person, once it did. */
  readonly outcome?: string;
}

/** Where a tool call comes from that a person is asked about. */
export interface AskPlace {
  /** Undefined: in none of its own. */
  readonly conversation: Conversation | undefined;
  readonly turnId: string;
  /** Whose message it is. */
  readonly sender: string;
}

/** Both boxes as a person sees them: `in-12` came in, `out-7` goes out. */
export interface MessageAdmin {
  counts(): MessageCounts;
  /** Newest first. */
  list(filter: MessageListFilter, limit: number): MessageSummary[];
  /** Throws MESSAGE_UNKNOWN. */
  show(id: string): MessageDetail;
  /**
   * A failed or dropped message is answered again, a dead or dropped delivery is sent again; of an answered message its
   * dead deliveries. Throws MESSAGE_UNKNOWN, MESSAGE_STATE, STORE_*.
   */
  replay(id: string): Promise<MessageSummary>;
  /** How many `replayAll` would take up now. */
  countEnded(ended: EndedFilter): Promise<number>;
  /**
   * `replay` of all that failed, or of all that are dead: those there are now, not those that fail again meanwhile. What is
   * taken up when it rejects (STORE_*, or the signal's reason) is taken up.
   */
  replayAll(ended: EndedFilter, signal: AbortSignal): Promise<Replayed>;
  /** Nobody tries it any more; it stays to be seen. A turn that runs for it is stopped. As `replay`. */
  drop(id: string): Promise<MessageSummary>;
}

export interface MessageListFilter extends Omit<MessageFilter, "before"> {
  readonly box?: "in" | "out";
}

/** `failed` came in, `dead` was to go out. */
export interface EndedFilter {
  readonly state: "failed" | "dead";
  readonly channel?: string;
}

export interface Replayed {
  readonly count: number;
  /** Of the first thousand. */
  readonly ids: readonly string[];
}

export interface MessageSummary {
  readonly id: string;
  readonly state: InboxMessage["state"] | Delivery["state"];
  /** What it waits for before its turn can come: it is encrypted, and its keys have not come. */
  readonly waitsFor: "keys" | undefined;
  readonly channel: string;
  readonly conversation: Conversation | undefined;
  /** Of an incoming one. */
  readonly sender: string | undefined;
  /** The beginning of it, redacted. */
  readonly text: string;
  readonly attempts: number;
  readonly atMs: number;
  readonly endedAtMs: number | undefined;
  readonly error: ErrorCode | undefined;
  readonly turnId: string | undefined;
}

export interface MessageDetail extends MessageSummary {
  /** All of its text, redacted. */
  readonly text: string;
  readonly kind: InboxMessage["kind"] | "delivery";
  readonly files: readonly { readonly kind: MediaKind; readonly name: string }[];
  /** Of an incoming one: what went out for it. */
  readonly deliveries: readonly MessageSummary[];
  /** Of an outgoing one. */
  readonly platformId: string | undefined;
  readonly platformStatus: string | undefined;
  /** Why it failed at the platform, redacted. */
  readonly platformReason: string | undefined;
  /** Body of a notice. */
  readonly notice: Json | undefined;
}

/** A reply that a person writes in place of the model. */
export interface ByHand {
  /** Of the conversation. */
  readonly owner: ClientId;
  readonly conversation: Conversation;
  readonly text: string;
  readonly author: Author;
  /** For the audit log, which has no texts. */
  readonly by: string;
}

export interface SaidByHand {
  readonly turnId: string;
  readonly deliveries: readonly Delivery[];
}

/** What the tool `channel_send` and `svc send` work with. */
export interface ChannelSendDeps {
  readonly store: Pick<Store, "outbox" | "write" | "knownConversations">;
  readonly identity: Pick<ChannelIdentity, "channel">;
  /** The config of the channel's section, as it is in force now. */
  readonly targetsOf: (channel: string) => ChannelTargets;
  /** Those in force now. */
  readonly channels: ReadonlyMap<string, Channel>;
  /** Takes the configured secrets out of the text. */
  readonly redact: (text: string) => string;
  readonly dispatcher: Pick<Messaging, "wake">;
  readonly now: () => number;
}

/** The settings of a config that concern messages. */
export interface MessagingSettings {
  /** Channels in service, by id. */
  readonly channels: ReadonlyMap<string, Channel>;
  /** Whether deliveries of it are tried; a channel that gave up keeps them waiting. */
  readonly isUp: (channel: string) => boolean;
  /** The agent that a channel's section names. */
  readonly agentOf: (channel: string) => string | undefined;
  /** Whom the agent may write to there with `channel_send`. */
  readonly targetsOf: (channel: string) => ChannelTargets;
  /** Of a delivery whose platform does not take it, and of a message while the model is down. */
  readonly maxAttempts: number;
  readonly maxParallelTurns: number;
  readonly transcription: TranscriptionSettings | undefined;
  readonly speech: SpeechSettings | undefined;
  /** Which answers of a channel are spoken, too. */
  readonly spokenAnswers: (channel: string) => SpokenReply;
}

/** `voice`: those to messages that came as a recording. */
export type SpokenReply = "never" | "voice" | "always";

/** As the channel's section names them. */
export interface ChannelTargets {
  /** `allowed_targets`; `*` is any. */
  readonly allowed: readonly string[];
  /** `notification_target`. */
  readonly notification: string | undefined;
}

export interface TranscriptionSettings {
  /** A program and its arguments in place of the service; `{file}` is the recording, `{wav}` the same as WAV. */
  readonly command?: readonly [string, ...string[]] | undefined;
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly model: string;
  readonly language: string | undefined;
  readonly maxBytes: number;
}

export interface SpeechSettings {
  /** A program and its arguments in place of the service; it reads the text, or finds it in `{text}`. */
  readonly command?: readonly [string, ...string[]] | undefined;
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly model: string;
  /** As the service names it. */
  readonly voice: string;
  /** Of what is sent to it; the rest of a longer text is not spoken. */
  readonly maxChars: number;
  /** On the loudspeaker of this machine, too, where a channel has one. */
  readonly play?: boolean;
}
