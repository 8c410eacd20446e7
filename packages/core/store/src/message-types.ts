/** Messages of channels on disk: what came in, and what is to go out. */
import type { Conversation, DeliveryUpdate, ErrorCode, Json, MediaKind } from "@svc/contract";

/** What one delivery of a platform, or one step of a channel's own loop, brought. Kept together or not at all. */
export interface Arrival {
  readonly channel: string;
  /** May be used once in `DEDUPE_MS`; seen before, nothing of the arrival is kept. */
  readonly once?: string;
  readonly messages: readonly NewMessage[];
  readonly updates?: readonly DeliveryUpdate[];
}

export interface NewMessage {
  /** `reaction`: kept as done at once. `locked`: waits until a message `unlocks` it, and is not attempted. */
  readonly kind: "message" | "reaction" | "notice" | "locked";
  /** Takes the place of the locked message that has its key. */
  readonly unlocks?: true;
  /** One after the other within it; of a message its conversation. */
  readonly conversationKey: string;
  /** `Inbound`, or the notice's body. */
  readonly body: Json;
  readonly dedupe?: {
    /** The platform's id. */
    readonly key: string;
    readonly forMs: number;
    /** `Inbound.sequence`, within the conversation. */
    readonly sequence?: number;
  };
}

/** `replayed`: its `once` was seen before. Otherwise what became of each message, in their order. */
export type Arrived =
  | { readonly state: "replayed" }
  | { readonly state: "kept"; readonly messages: readonly (KeptMessage | "duplicate")[] };

export interface KeptMessage {
  /** Order of arrival. */
  readonly n: number;
  readonly turnId: string;
}

export type InboxState = "waiting" | "done" | "failed" | "dropped";

export interface InboxMessage extends KeptMessage {
  readonly channel: string;
  readonly kind: NewMessage["kind"];
  readonly conversationKey: string;
  readonly body: Json;
  readonly state: InboxState;
  /** Attempts that failed, or that the process did not survive. */
  readonly attempts: number;
  readonly receivedAtMs: number;
  /** When it became done, failed or dropped. */
  readonly endedAtMs: number | undefined;
  /** Why the last attempt failed. */
  readonly error: ErrorCode | undefined;
  /** The platform's id of the beginning of its answer, which is there already; of one that waits, or is lost. */
  readonly draft?: string;
  /** W3C `traceparent` of what brought it. */
  readonly traceparent?: string;
  /** The same of its wait for its turn; of one that an attempt at was begun, and that waits still, or is lost. */
  readonly waitTraceparent?: string;
}

/** What stays of it in memory while it waits. */
export interface WaitingMessage extends Pick<InboxMessage, "n" | "channel" | "kind" | "conversationKey"> {
  /** Of one that an earlier process left: how often a process died while it was answered. */
  readonly crashes?: number;
}

export interface NewDelivery {
  readonly conversation: Conversation;
  /** Of the conversation; sent one after the other within it. */
  readonly conversationKey: string;
  readonly text: string;
  readonly files: readonly StoredFile[];
  readonly replyData?: Json;
  /** The turn it belongs to, if any. */
  readonly turnId?: string;
  /** Of an outgoing message that a tool call makes: kept once, whatever is resumed. `turn:call`. */
  readonly key?: string;
  /** `Approval.n` of the question that it asks. */
  readonly approval?: number;
  /** The platform's id of the message that its text takes the place of. */
  readonly draft?: string;
}

/** A file in the workspace of an agent, read when it is sent; or an answer that is spoken then. */
export interface StoredFile {
  readonly kind: MediaKind;
  /** Of a spoken answer its name only. */
  readonly path: string;
  /** Whose workspace. */
  readonly agent: string;
  /** What it held when it was queued; only that is sent. Rows of older versions lack it. */
  readonly content?: FileContent;
  /** Said by `[tts]` when the message is sent. The same words went out as text before it. */
  readonly speak?: string;
}

export interface FileContent {
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
}

export type OutboxState = "waiting" | "sent" | "dead" | "dropped";

export interface Delivery extends NewDelivery {
  readonly n: number;
  /** Stable over retries. */
  readonly deliveryId: string;
  readonly state: OutboxState;
  /** Attempts that failed, or that the process did not survive. */
  readonly attempts: number;
  /** Milliseconds since the epoch before which it is not tried again. */
  readonly notBeforeMs: number;
  readonly createdAtMs: number;
  readonly endedAtMs: number | undefined;
  readonly platformId: string | undefined;
  /** What the platform said later. */
  readonly platformStatus: DeliveryUpdate["status"] | undefined;
  /** Why it failed there, as the channel has put it; cut. */
  readonly platformReason: string | undefined;
  readonly error: ErrorCode | undefined;
  /** W3C `traceparent` of what it was added by. */
  readonly traceparent?: string;
}

/** What stays of it in memory while it waits. */
export interface WaitingDelivery extends Pick<Delivery, "n" | "conversationKey" | "notBeforeMs"> {
  readonly channel: string;
  /** How often a process died while it was being sent. */
  readonly crashes: number;
}

/** One message that a running turn has added to its conversation, in the model's own form. */
export interface TurnStep {
  readonly message: Json;
  /** What the model provider counted for it. */
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export interface MessageFilter {
  readonly channel?: string;
  readonly state?: string;
  /** Only those with a smaller number. */
  readonly before?: number;
}

/** A message that came with files. */
export interface FiledMessage extends Pick<InboxMessage, "n" | "receivedAtMs"> {
  /** `Inbound.media`. */
  readonly media: Json;
}

/** Those that ended in a state that is not a good one. */
export interface EndedFilter {
  readonly state: string;
  readonly channel?: string;
  /** Only those with a larger number. */
  readonly after: number;
}

export interface EndedPage<Row> {
  /** In order of arrival. */
  readonly messages: readonly Row[];
  /** `after` of the next page; undefined: this was the last. */
  readonly next: number | undefined;
}

/** How many there are, and how long the oldest one waits. */
export interface MessageCounts {
  readonly inbox: Readonly<Record<InboxState, number>>;
  readonly outbox: Readonly<Record<OutboxState, number>>;
  /** Of those that wait in the inbox, how many are encrypted and lack their keys. */
  readonly locked: number;
  /** Of both boxes; undefined: nothing waits. */
  readonly oldestWaitingMs: number | undefined;
  /** Of each box; 0: nothing waits there. */
  readonly oldestMs: { readonly inbox: number; readonly outbox: number };
}
