/** What the rest of the house sees of the durable state. */
import type { ClientId, ErrorCode, Json } from "@svc/contract";

export type Scope = "operator" | "webhook" | "read";

/** A paired device. The token itself is never stored. */
export interface Device {
  readonly id: string;
  /** Hex SHA-256 of the token. */
  readonly tokenHash: string;
  readonly clientId: ClientId;
  readonly name: string;
  readonly scope: Scope;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly lastSeenAt: number | undefined;
}

/** A claimed idempotency key; settled or released by the turn it belongs to. */
export interface IdempotencyClaim {
  readonly scope: string;
  readonly key: string;
  /** A second name of the same request; either one repeated makes a duplicate, and they live and die together. */
  readonly also?: string;
  /** Kept at least so long, whatever the configured window says. Milliseconds. */
  readonly minTtlMs?: number;
}

export interface SessionSummary {
  readonly id: string;
  readonly clientId: ClientId;
  readonly name: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly turns: number;
  /** Empty: nothing was said in words. */
  readonly title: string;
  /** Whose words the title is: the first of the conversation, a model's, or what a person named it. */
  readonly titledBy: "words" | "model" | "person";
  /** The beginning of what was said last. */
  readonly preview: string;
  /** Turns that no operator has seen. */
  readonly unread: number;
  readonly isPinned: boolean;
  readonly isArchived: boolean;
  /** Row number of its newest turn, by which lists are ordered; 0: it has none yet. */
  readonly newestTurn: number;
}

/** Which conversations a list or a search holds; what is left out makes no difference. */
export interface SessionFilter {
  /** The owner. */
  readonly clientId?: ClientId | undefined;
  readonly archived?: boolean | undefined;
}

/** Lists hold those that are pinned first. */
export interface ListPosition {
  readonly isPinned: boolean;
  readonly newestTurn: number;
}

/** What an operator changes; what is left out stays. */
export interface SessionChanges {
  /** Null: the first words again. */
  readonly title?: string | null;
  readonly pinned?: boolean;
  readonly archived?: boolean;
}

/** A turn in which all words were found. */
export interface FoundTurn {
  readonly n: number;
  readonly turn: StoredTurn;
  readonly session: SessionSummary;
}

/** Where a session stands on disk: its row, and its newest turn. */
export interface SessionPlace {
  readonly session: number;
  readonly lastTurn: number;
}

/** How a turn ended: with its answer, called off, or by an error. */
export type TurnState = "done" | "stopped" | "failed";

/** Who wrote a message: a paired device, a person on a channel (`id`: as the platform knows them), or one that has no name. */
export interface Author {
  readonly kind: "device" | "person" | "terminal" | "anonymous";
  readonly id?: string;
  /** As it was then. */
  readonly name?: string;
}

/** Why a turn has no whole answer. */
export interface TurnProblem {
  readonly code: ErrorCode;
  /** A sentence for a person. */
  readonly reason: string;
  /** What to do about it. */
  readonly fix?: string;
  /** What the model provider said, see `SvcError.said`: for operators only. */
  readonly said?: string;
}

/** A file that came with a message. */
export interface SentFile {
  readonly id: string;
  /** For a person. */
  readonly name: string;
  /** As its bytes say. */
  readonly type: string;
  readonly size: number;
  /** Whose workspace it is in. */
  readonly agent: string;
  /** Below that workspace. */
  readonly path: string;
}

/** What people are told about a turn, beside its messages. */
export interface TurnMeta {
  readonly author?: Author;
  /**
   * `continue`: a person asked for the rest of the answer before it, in words of the service. `by_hand`: a person answered in
   * the place of the model. Default: a message and its answer.
   */
  readonly kind?: "continue" | "by_hand";
  /** Of `by_hand`: who is answered, as the platform knows them. */
  readonly sender?: string;
  /** What its message came with: the last text of the message names them for the model. */
  readonly files?: readonly SentFile[];
  /** Of the agent that answered, where it is not the default one. */
  readonly agent?: string;
  /** An acting tool was started in a turn that did not end well. */
  readonly acted?: true;
  readonly problem?: TurnProblem;
  /** The provider refuses what it says: shown to people, and to no model, or every turn to come would fail of it. */
  readonly refused?: true;
}

/** What has come of the answer of one step, from 0 on. */
export interface PartialAnswer {
  readonly step: number;
  readonly text: string;
}

/** A message that was sent, and whose turn has not ended. */
export interface OpenTurn {
  readonly turnId: string;
  readonly owner: ClientId;
  readonly name: string;
  /** Id that its conversation has, or gets with its first turn. */
  readonly sessionId: string;
  readonly agent: string;
  /** When it was sent; milliseconds since the epoch. */
  readonly at: number;
  readonly text: string;
  readonly meta: TurnMeta | undefined;
  readonly partial: PartialAnswer | undefined;
}

/** One turn that has ended, as kept: the messages it added, in the model's own form. */
export interface StoredTurn extends NewTurn {
  readonly state: TurnState;
  /** A later attempt at the same message took its place. */
  readonly replaced: boolean;
}

export interface NewTurn {
  /** Default: done. */
  readonly state?: TurnState;
  readonly meta?: TurnMeta | undefined;
  readonly id: string;
  readonly at: number;
  readonly model: string;
  readonly messages: Json;
  /** The same as text, where it is made already. */
  readonly messagesJson?: string;
  /** Of a conversation that has none yet. Default: its first words. */
  readonly title?: string | undefined;
  /** Estimated tokens of `messages`. */
  readonly tokens: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars; undefined when the price is unknown. */
  readonly costUsd: number | undefined;
}

/** A conversation that is on disk, and where it stands. */
export interface StoredSession extends SessionSummary {
  readonly place: SessionPlace;
}

/** What turns of a conversation have used. */
export interface SessionUsage {
  readonly turns: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars; undefined when the cost of some turn is unknown. */
  readonly costUsd: number | undefined;
}

/** A stretch of a conversation. */
export interface TurnPage {
  /** Oldest first. */
  readonly turns: readonly StoredTurn[];
  /** Where the turns before these begin; undefined: there are none. */
  readonly before: SessionPlace | undefined;
}

/** What one turn used, or a part of it. */
export interface TurnUsage {
  /** `YYYY-MM-DD`, UTC. */
  readonly day: string;
  readonly agent: string;
  readonly model: string;
  /** Id of the channel whose message was answered. Default: it was no channel's. */
  readonly channel?: string | undefined;
  /** Whose limits it counts against. Default: only the agent's. */
  readonly client?: ClientId | undefined;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars; undefined when the price is unknown. */
  readonly costUsd: number | undefined;
  /** What a limit of cost takes for an unknown cost. */
  readonly estimatedUsd?: number;
  /** 0: of a turn that has not ended, which is counted with its end. Default: 1. */
  readonly turns?: 0 | 1;
}

/** What an agent used of a model on a day. */
export interface UsageTotals {
  readonly day: string;
  readonly agent: string;
  readonly model: string;
  readonly turns: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars of the turns whose cost is known. */
  readonly costUsd: number;
  readonly unknownCostTurns: number;
}

/** The same, for answers to one channel alone. */
export interface ChannelUsage extends UsageTotals {
  /** Empty: answers to no channel's message. */
  readonly channel: string;
}

/** What a client spent of an agent on a day. */
export interface ClientUsage {
  readonly agent: string;
  readonly client: ClientId;
  /** Id of the channel that it wrote by; empty: none. */
  readonly channel: string;
  /** US dollars that count against a limit, estimates included. */
  readonly spentUsd: number;
}

/** What is kept for how long. */
export interface RetentionLimits {
  /** Days after its last turn until a conversation is deleted; 0: never. */
  readonly sessionDays: number;
  /** Most conversations kept, the most recent first; 0 keeps all. */
  readonly maxSessions: number;
  /** Days to keep the journal of tool calls. */
  readonly toolCallDays: number;
  /** Days after their end that messages of both boxes, and approvals, are kept. */
  readonly messageDays: number;
  /** Days after its last use that a sign-in of the page is kept; undefined keeps all. */
  readonly pageSessionDays?: number;
}

/** How much was removed. */
export interface Pruned {
  readonly sessions: number;
  readonly turns: number;
  readonly toolCalls: number;
  readonly idempotencyKeys: number;
  /** That came in. */
  readonly messages: number;
  /** That went out. */
  readonly deliveries: number;
  /** Ids of messages, and values that may be used once, whose time to be remembered is over. */
  readonly seenIds: number;
  /** Answered, expired or called off. */
  readonly approvals: number;
}

export interface SessionName {
  readonly id: string;
  readonly clientId: ClientId;
  readonly name: string;
}

/** W3C `traceparent` of what the change that runs now is part of; undefined: nobody traces. */
export type PartOf = () => string | undefined;
