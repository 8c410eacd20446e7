/** Conversations as they are looked at from outside. Nothing here has the form of any model provider. */
import type { ClientId, Conversation, Json } from "@svc/contract";
import type {
  Author,
  SentFile,
  SessionChanges,
  SessionFilter,
  SessionSummary,
  TurnMeta,
  TurnProblem,
  TurnState,
} from "@svc/store";

export interface SessionService {
  /** Running ones that are not on disk yet first, then those that are pinned, then the most recently active. */
  list(filter: SessionFilter, limit: number): SessionInfo[];
  /** The same in pages. Throws BAD_REQUEST for a cursor that no page gave. */
  page(filter: SessionFilter, limit: number, before?: string): SessionListPage;
  /** Messages with all words of a query, the newest first. Throws BAD_REQUEST for a cursor that no page gave. */
  search(request: SearchRequest): SearchPage;
  /**
   * Resolves with the conversation as it is then; undefined: there is none on disk. Rejects with AGENT_UNKNOWN, BAD_REQUEST for a
   * model that the agent does not have, STORE_*.
   */
  update(id: string, changes: SessionUpdate): Promise<SessionInfo | undefined>;
  /** An operator has seen so many turns of it. Resolves as `update`. */
  markRead(id: string, turns: number): Promise<SessionInfo | undefined>;
  find(id: string): SessionInfo | undefined;
  /** The newest messages, or those before a cursor; in order. Throws SESSION_UNKNOWN, BAD_REQUEST. */
  messages(id: string, page: SessionPageRequest): SessionPage;
  /**
   * Stops what runs and waits in this conversation. False: nothing could be stopped. `by` completes "The turn was
   * stopped by …", which whoever waits for the answer is told.
   */
  cancel(id: string, by?: string): boolean;
  /** Stops what runs and waits, and resolves once all of it is gone from memory and disk. False: no such one. */
  remove(id: string, by?: string): Promise<boolean>;
  /** Name of the agent that its newest turn asked for; undefined: the default one. */
  agentOf(id: string): string | undefined;
  /** Turns that run, oldest first. */
  running(): RunningTurn[];
}

export type { SessionFilter } from "@svc/store";

/** `clientId` is the owner: who may see it. */
export interface SessionInfo extends SessionSummary {
  /** A turn of it runs or waits. */
  readonly running: boolean;
  /** Where its people are, if it is one with people on a channel. */
  readonly channel: Conversation | undefined;
  /** What was chosen for it; undefined: as configured. */
  readonly agent: string | undefined;
  readonly model: string | undefined;
}

/** What is left out stays; null: as configured. */
export interface SessionUpdate extends SessionChanges {
  /** Another agent answers with its own model. */
  readonly agent?: string | null;
  readonly model?: string | null;
}

export interface SessionListPage {
  readonly sessions: readonly SessionInfo[];
  /** Leads to the conversations after these; undefined: there are none. */
  readonly before: string | undefined;
}

export interface SearchRequest {
  /** Words, and phrases in double quotes. */
  readonly query: string;
  /** The owner of what is searched; undefined: all is. */
  readonly clientId?: ClientId | undefined;
  readonly limit: number;
  /** `before` of an earlier page. */
  readonly before?: string | undefined;
}

export interface SearchPage {
  readonly results: readonly FoundMessage[];
  readonly before: string | undefined;
}

/** The message of a turn that has most of the words; a turn is found once. */
export interface FoundMessage {
  readonly session: SessionInfo;
  readonly turnId: string;
  readonly at: number;
  readonly role: SessionMessage["role"];
  /** One line of it. */
  readonly snippet: readonly SnippetPart[];
}

export interface SnippetPart {
  readonly text: string;
  /** It is what was searched for. */
  readonly isHit: boolean;
}

export interface RunningTurn {
  readonly turnId: string;
  readonly agent: string;
  readonly sessionId: string;
  /** What its owner calls the conversation (X-Session-Id). */
  readonly sessionName: string;
  /** The conversation's owner. */
  readonly clientId: ClientId;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
}

export interface SessionPageRequest {
  readonly limit: number;
  /** `before` of an earlier page. */
  readonly before?: string;
}

export interface SessionPage {
  /** Oldest first. */
  readonly messages: readonly SessionMessage[];
  /** Leads to the messages before these; undefined: there are none. */
  readonly before: string | undefined;
  /** What can be done about the newest turn; undefined on a page that a cursor leads to, and where there is nothing to do. */
  readonly followUps: { readonly turnId: string; readonly ways: readonly FollowUp[] } | undefined;
}

export interface SessionMessage {
  readonly turnId: string;
  /** When its turn ended, or the message came of one that has not; milliseconds since the epoch. */
  readonly at: number;
  readonly role: "user" | "assistant";
  /** Without the files. */
  readonly text: string;
  /** What it came with. */
  readonly files: readonly SentFile[];
  /** What the assistant had done along with it, in order. */
  readonly calls: readonly SessionToolCall[];
  /** Of its turn. */
  readonly state: TurnState | "running" | "waiting";
  /** Who wrote it; undefined: the model, or unknown. */
  readonly author: Author | undefined;
  readonly kind: NonNullable<TurnMeta["kind"]> | "message";
  /** A later attempt took the place of its turn. */
  readonly replaced: boolean;
  /** Why its turn has no whole answer. */
  readonly problem: TurnProblem | undefined;
}

export interface SessionToolCall {
  readonly callId: string;
  readonly tool: string;
  readonly input: Json;
  readonly ok: boolean;
  /** `rejected`: a person said no, and nothing was done. */
  readonly outcome: "done" | "failed" | "rejected";
  readonly output: Json;
}

/** What a person can do about a turn that was stopped or failed. */
export type FollowUp = "retry" | "edit" | "continue";
