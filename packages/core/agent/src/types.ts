/** What the agent offers to whoever brings messages. */
import type {
  AgentLoan,
  AgentRights,
  Borrower,
  ClientId,
  FileChange,
  Json,
  SvcError,
  TurnEvent,
  ErrorCode,
} from "@svc/contract";
import type { Author, GrantPlace, IdempotencyClaim, SentFile, TurnMeta } from "@svc/store";
import type { Command } from "./command-words.ts";
import type { AlwaysRule, CallPattern } from "./policy/approval-scope.ts";
import type { AgentSet } from "./profiles.ts";
import type { FollowUp, SessionService } from "./sessions/types.ts";

export interface TurnRequest {
  readonly clientId: ClientId;
  /** Name of the agent that answers; without one, the default agent. */
  readonly agent?: string;
  /** Owner of the named session where it is not `clientId`: callers without a token share one. */
  readonly owner?: ClientId;
  /** Name of the session, scoped to the owner. Without one the turn opens a session of its own. */
  readonly session?: string;
  readonly text: string;
  /** Uploaded files of `clientId` that come with it, by their ids. */
  readonly files?: readonly string[];
  /** Files that came with the turn that it follows, and come with it again. */
  readonly filesAgain?: readonly SentFile[];
  /** Who wrote it, for people who read the conversation. */
  readonly author?: Author;
  /** Default: a message. */
  readonly kind?: TurnMeta["kind"];
  /**
   * It follows an earlier turn of the named session, which was stopped or failed. `retry` asks the same once more, `edit` asks
   * `text` in its place, `continue` asks for the rest of the answer; `text` counts for `edit` only.
   */
  readonly after?: { readonly turnId: string; readonly how: FollowUp };
  /** The earlier turn that this one takes the place of, if it ended since then: no model is told of that one any more. */
  readonly replaces?: { readonly turnId: string; readonly sinceMs?: number } | undefined;
  /** The message is on disk: it is not lost any more, whatever becomes of the turn. Not called for commands. Must not throw. */
  readonly onStored?: (stored: StoredMessage) => void;
  /**
   * Who speaks in the conversation: what a person allows for the rest of it holds for this one alone. Without it nothing is
   * allowed for longer than a call. Empty: whoever has the conversation, which is no group.
   */
  readonly sender?: string;
  /** The text may be a command: a person said it, and is shown the answer, which the conversation does not keep. */
  readonly takesCommands?: true;
  /** Settled in the same transaction as the turn, or released when the turn fails before an acting tool started. */
  readonly claim?: IdempotencyClaim;
  /** Asks a person about an acting call. Default: whoever the agent was made with. */
  readonly ask?: AskPerson;
  /** Names of the only tools of the agent that this turn is offered. Default: all of them. */
  readonly tools?: readonly string[];
  /** Names of tools that may run once each in this turn without a person being asked: its step was approved. */
  readonly granted?: readonly string[];
  /** Id of the channel whose message it answers. Without one it came over HTTP, from the page, or by a procedure. */
  readonly channel?: string;
  /** Its conversation and a place are free: it begins now. Must not throw. */
  readonly onBegin?: () => void;
  readonly onEvent?: (event: TurnEvent) => void;
  /** Stream the answer even without subscribers: a device that opens the conversation later sees the text so far. */
  readonly inPieces?: true;
  readonly watch?: TurnWatcher;
  /** Of a conversation that begins with this turn. Default: its first words, then what `agent.title_model` makes of them. */
  readonly title?: string;
  /** Said to the model behind the agent's own instructions, in this turn only. */
  readonly instructions?: string;
  /** Names the turn. Default: a new one. */
  readonly turnId?: string;
  /**
   * A turn that does not get to its end stays on disk and is taken up by the next `run` with its `turnId`, in this process
   * or another; whoever gives it up says so with `Agent.abandon`. Its conversation has to wait for it meanwhile.
   */
  readonly resumable?: true;
  /** There is an answer: awaited before it is kept. What it rejects with is what the turn fails with. */
  readonly beforeEnd?: (done: TurnDone) => Promise<void>;
  /** Runs inside the transaction that ends the turn with its answer. */
  readonly inTransaction?: (done: TurnDone) => void;
  readonly signal: CancelSignal;
}

/** The part of an `AbortSignal` that a turn uses. A real one takes 2 µs to make, so callers may pass something lighter. */
export interface CancelSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

export interface StoredMessage {
  readonly turnId: string;
  /** Of the conversation, among all. */
  readonly conversationId: string;
  /** Name of the session. */
  readonly sessionId: string;
  /** It waits for another turn of its conversation. */
  readonly waits: boolean;
}

/** Is told what the model says as it comes. It costs the turn nothing: what a try gave that failed is taken back. */
export interface TurnWatcher {
  /** The model is asked, in this step of the turn, from 0 on. Once more in the same step: what came of it so far is void. */
  begin(step: number): void;
  /** The next piece, without secrets. */
  push(text: string): void;
  /** All of the step's text; tools run next, and only when it resolves. Must not reject. */
  pause(text: string): Promise<void>;
}

export interface TurnDone {
  readonly response: string;
}

/** A resumable turn that nobody tries again. */
export interface AbandonedTurn extends Pick<TurnRequest, "agent"> {
  readonly turnId: string;
  readonly owner: ClientId;
  readonly session: string;
  /** What it was asked: kept in the conversation. Without it only a turn in which something acted is. */
  readonly message?: { readonly text: string; readonly author: Author };
  /** What its last attempt ended with. */
  readonly error?: SvcError;
  /** Runs inside the transaction that ends it. */
  readonly inTransaction: () => void;
}

/** A command that came another way than as the text of a turn. */
export interface CommandRequest extends Pick<TurnRequest, "agent"> {
  readonly command: Command;
  readonly owner: ClientId;
  readonly session: string;
  /** Who says it. */
  readonly clientId: ClientId;
  /** Messages that wait in the conversation behind it. */
  readonly waiting: number;
  /** Runs inside the transaction that settles it. */
  readonly inTransaction: (response: string) => void;
}

/** A reply that a person writes in place of the model. */
export interface ReplyByHand {
  readonly turnId: string;
  /** What waited for an answer, and has it now. */
  readonly asked: readonly string[];
  /** Who wrote that, as the platform knows them. */
  readonly sender: string;
  readonly text: string;
  readonly author: Author;
  /** Runs inside the transaction that keeps it. */
  readonly inTransaction: () => void;
}

export interface TurnResult {
  readonly turnId: string;
  /** Name of the agent that answered. */
  readonly agent: string;
  readonly response: string;
  readonly model: string;
  /** Name under which the conversation can be continued (X-Session-Id). */
  readonly sessionId: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars; undefined when the model's price is unknown. */
  readonly costUsd: number | undefined;
}

export interface TurnRunner {
  /** Throws `SvcError` (TURN_*, SESSION_UNKNOWN, FILE_UNKNOWN, MODEL_*, AGENT_UNKNOWN, COST_LIMIT, BUSY, STORE_*). */
  run(request: TurnRequest): Promise<TurnResult>;
}

/**
 * Its signal is aborted when nobody wants to know any more: the turn is over, or the time to answer. Where the reason
 * `isPostponed`, the same question, by the same turn and call, comes again with the next start, and goes on waiting.
 */
export type AskPerson = (question: ToolQuestion, signal: AbortSignal) => Promise<PersonAnswer>;

export interface ToolQuestion {
  readonly turnId: string;
  readonly callId: string;
  readonly tool: string;
  readonly input: Json;
  /** The rule that makes the call wait for a person, as a sentence. */
  readonly reason: string;
  /** Name of the agent that calls. */
  readonly agent: string;
  /** Of a tool that runs command lines: the line, and where it would run below the workspace. */
  readonly command?: string;
  readonly folder?: string;
  /** Of a tool that writes a file. */
  readonly change?: FileChange;
  readonly lasting: LastingOffers;
}

/** How long a yes may hold, and for what. What is missing can't be chosen. */
export interface LastingOffers {
  readonly conversation?: CallPattern & { readonly place: GrantPlace };
  readonly always?: CallPattern & { readonly rule: AlwaysRule };
  /** Why something is missing, as a sentence. */
  readonly reason?: string;
}

export interface PersonAnswer {
  readonly approved: boolean;
  /** False: nobody has answered, or the question was taken back. Default: where it is not approved, a person rejected it. */
  readonly isRejected?: boolean;
  readonly feedback?: string;
}

export interface Agent extends TurnRunner {
  /** Name of the default agent's model. */
  readonly model: string;
  readonly sessions: SessionService;
  /**
   * From here on `agents` are in force. A turn that runs keeps its model and the tools it was offered, but each further
   * tool call of it is judged and run as the new set says: who locks down is obeyed at once. Never throws.
   */
  reconfigure(agents: AgentSet): void;
  /** Stops what runs and waits in a conversation, for the reason that `by` completes. False: nothing could be stopped. */
  stop(owner: ClientId, session: string, by: string): boolean;
  /**
   * The service stops: turns that wait for a person are called off, and so is any that would begin to. A resumable one asks
   * again when it is taken up (`isPostponed`).
   */
  drain(): void;
  /**
   * Ends a resumable turn that does not run. What acted in it stays in the conversation, unless that was removed. Rejects
   * with STORE_*, and then nothing has changed.
   */
  abandon(turn: AbandonedTurn): Promise<void>;
  /**
   * Keeps a reply that a person wrote in the place of the model, behind whatever runs in the conversation. Rejects with
   * TURN_RUNNING, STORE_*, and what `alongside` throws; then nothing has changed.
   */
  replyByHand(reply: ReplyByHand & { readonly owner: ClientId; readonly session: string }): Promise<void>;
  /**
   * Messages whose turns the last process did not end are kept in their conversations, marked as failed. Before anything is run.
   * Never rejects: what the disk refuses waits for the next start.
   */
  recover(): Promise<void>;
  /**
   * Settles a command of a conversation, behind whatever runs there. Resolves with its answer. Rejects with AGENT_UNKNOWN, STORE_*,
   * and what `alongside` throws; then nothing has changed.
   */
  command(request: CommandRequest): Promise<string>;
  /** Conversations were removed from disk by somebody else (retention): no model must be told of them any more. */
  reread(): void;
  /** One tiny model call without tools, for `svc model test`. Throws AGENT_UNKNOWN, TURN_CANCELLED. */
  test(name: string | undefined, signal: AbortSignal): Promise<ModelTest>;
  /** Lends the rights of an agent to a child agent. Throws AGENT_UNKNOWN. */
  lend(rights: AgentRights, borrower: Borrower): AgentLoan;
  /** Turns that run and that wait. */
  load(): { running: number; waiting: number };
  /** Evaluates the model's library, so that the first turn does not wait for it. */
  warm(): Promise<void>;
}

/** The result of one small call of a model. */
export interface ModelTest {
  readonly agent: string;
  readonly provider: string;
  readonly model: string;
  readonly ok: boolean;
  readonly latencyMs: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars; undefined when the price is unknown or the provider does not count tokens. */
  readonly costUsd: number | undefined;
  readonly priceKnown: boolean;
  readonly error?: {
    readonly code: ErrorCode;
    readonly message: string;
    readonly hint?: string;
    /** The provider's words, see `SvcError.said`. */
    readonly said?: string;
  };
}
