/** What waits for a person's yes: who may ask, who may answer, and what everybody is told. */
import type { ApprovalEvent, ApprovalOrigin, Clock, Conversation, Inbound, Json, Logger } from "@svc/contract";
import type { Approval, ApprovalAnswer, ApprovalOffers, ApprovalStatus, Delivery, Store } from "@svc/store";

export interface ApprovalKey {
  readonly runId: string;
  readonly stepId: string;
}

export interface ApprovalRequest extends ApprovalKey {
  readonly origin: ApprovalOrigin;
  readonly title: string;
  readonly message: string;
  /** Default: approve, yes. Empty: no keywords. */
  readonly approveKeywords?: readonly string[];
  /** Default: reject, no. */
  readonly rejectKeywords?: readonly string[];
  /** As the sender named them; of an `external` one. */
  readonly channels?: readonly string[];
  /** For a person: who wants it. */
  readonly askedBy: string;
  /** Account, as in `approvers`, of the person whose message caused it. */
  readonly asker?: string;
  /** Default: `approvals.expire_secs`. */
  readonly expireMs?: number;
  /** Where the prompt is posted. */
  readonly conversations: readonly Conversation[];
  /** What it is about, e.g. a tool and its input: tells it from another request of the same key, however both are worded. Not shown. */
  readonly subject?: Json;
  /** Of a tool call: what it would do, for people. */
  readonly detail?: ToolCallDetail;
  /** For how long a yes may hold, and for what. Default: once. */
  readonly offers?: ApprovalOffers;
}

/** A tool call as people are shown it: without secrets, and bounded. */
export interface ToolCallDetail {
  readonly tool: string;
  readonly agent: string;
  /** The rule that asks, as a sentence. */
  readonly reason: string;
  /** One line, for lists and the audit log. */
  readonly summary: string;
  /** The command line, and where it runs below the workspace. */
  readonly command?: string;
  readonly folder?: string;
  readonly change?: ShownChange;
  /** All arguments as JSON; of a command or a change only what these do not tell. */
  readonly input?: string;
}

/** What a call does to a file. */
export interface ShownChange {
  readonly path: string;
  readonly mode: "replace" | "append";
  /** What is there now. */
  readonly before: "text" | "binary" | "large" | "missing" | "unreadable";
  /** Lines, each behind `+`, `-` or a blank; `@` stands for lines that stay and are left out. */
  readonly lines: readonly string[];
  readonly added: number;
  readonly removed: number;
  /** Lines that are not shown. */
  readonly cut: number;
}

export interface Answer extends Pick<ApprovalAnswer, "by" | "via" | "holds"> {
  readonly approved: boolean;
  readonly feedback?: string;
}

/** What was done inside a transaction, and is told once that is on disk. */
export interface Pending<Result> {
  readonly result: Result;
  committed(): void;
}

export interface Requested {
  /** `existing`: an identical one waits; nothing is posted, nobody is told again. */
  readonly state: "new" | "existing";
  readonly approval: Approval;
}

export interface Approvals {
  /** Resolves once it is on disk. Throws BAD_REQUEST (a word in both lists), APPROVAL_EXISTS, STORE_*. */
  request(request: ApprovalRequest): Promise<Requested>;
  /** The same inside a transaction of the caller. */
  requestIn(request: ApprovalRequest): Pending<Requested>;
  /**
   * The first answer wins. Throws APPROVAL_UNKNOWN, APPROVAL_RESOLVED (who and when), APPROVAL_EXPIRED, BAD_REQUEST for a yes that
   * may not hold that long, STORE_*. A yes for always is in force when it resolves; RULE_NOT_SAVED: it held once.
   */
  resolve(key: ApprovalKey, answer: Answer): Promise<Approval>;
  resolveIn(key: ApprovalKey, answer: Answer): Pending<Approval>;
  /** Nobody wants to know any more. Inside a transaction; undefined: it waited no longer. */
  cancelIn(key: ApprovalKey, why: string): Pending<Approval> | undefined;
  /** Resolves when it waits no longer, at once if it does not. Rejects with the signal's reason, APPROVAL_UNKNOWN. */
  settled(key: ApprovalKey, signal: AbortSignal): Promise<Approval>;
  get(key: ApprovalKey): Approval | undefined;
  list(filter: ApprovalFilter, limit: number): ApprovalPage;
  /** Messages of channels that answer one, by when they came in. Structurally the agent's `ReplyTaker`. */
  readonly replies: {
    /** `receivedAtMs`: what was asked later is no question that the sender has seen. */
    takes(inbound: Inbound, receivedAtMs: number): boolean;
    take(inbound: Inbound, receivedAtMs: number): { readonly text: string | undefined; committed(): void } | undefined;
  };
  /** Watches over those that expire. */
  start(): void;
  stop(): void;
}

export interface ApprovalFilter {
  readonly status?: ApprovalStatus;
  readonly runId?: string;
  /** Only those with a smaller number. */
  readonly before?: number;
}

export interface ApprovalPage {
  /** Newest first. */
  readonly approvals: readonly Approval[];
  /** `before` of the next page; undefined: this was the last. */
  readonly next: number | undefined;
}

/** Told of every end inside its transaction: a run goes on, the audit log gets its line. The result is called after it. */
export type OnSettled = (approval: Approval) => () => void;
/** The same of every new one. */
export type OnRequested = (approval: Approval) => void;

/** What approvals are made with. */
export interface ApprovalOptions {
  readonly store: Pick<Store, "approvals" | "grants" | "outbox" | "write">;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called after the commit. Returns the event with its id. */
  readonly publish: (event: ApprovalEvent) => { readonly id: string };
  /** Of a channel, as it is in force now; also of one that is gone. */
  readonly settings: (channel: string) => ChannelAnswers;
  /** `approvals.expire_secs`, as it is in force now. */
  readonly expireMs: () => number;
  /** Takes the configured secrets out of what is kept, and shown to many. */
  readonly redact: (text: string) => string;
  /** Called after the commit that added these rows to the outbox. */
  readonly wake: (deliveries: readonly Delivery[]) => void;
  /** Puts a rule into force that outlives the conversation. Called after the commit of the yes. Default: none can be kept. */
  readonly keepRule?: (rule: Json, answered: Approval) => Promise<void>;
  readonly onRequested?: OnRequested;
  readonly onSettled?: OnSettled;
}

export interface ChannelAnswers {
  /** Who may answer there. */
  readonly approvers: readonly string[];
  /** Longest text of one message there. */
  readonly maxChars: number;
}
