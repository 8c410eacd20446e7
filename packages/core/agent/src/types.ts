/** What the agent offers to whoever brings messages. */
import type { ClientId, Json, TurnEvent } from "@svc/contract";
import type { IdempotencyClaim } from "@svc/store";

export interface TurnRequest {
  readonly clientId: ClientId;
  /** Name of the agent that answers; without one, the default agent. */
  readonly agent?: string;
  /** Owner of the named session where it is not `clientId`: callers without a token share one. */
  readonly owner?: ClientId;
  /** Name of the session, scoped to the owner. Without one the turn opens a session of its own. */
  readonly session?: string;
  readonly text: string;
  /** Settled in the same transaction as the turn, or released when the turn fails before an acting tool started. */
  readonly claim?: IdempotencyClaim;
  /** Asks a person about an acting call. Without it such a call is refused. */
  readonly ask?: AskPerson;
  readonly onEvent?: (event: TurnEvent) => void;
  readonly signal: AbortSignal;
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
  /** Throws `SvcError` (TURN_*, MODEL_*, AGENT_UNKNOWN, COST_LIMIT, BUSY, STORE_*). */
  run(request: TurnRequest): Promise<TurnResult>;
}

export type AskPerson = (question: ToolQuestion, signal: AbortSignal) => Promise<PersonAnswer>;

export interface ToolQuestion {
  readonly callId: string;
  readonly tool: string;
  readonly input: Json;
  /** The rule that makes the call wait for a person, as a sentence. */
  readonly reason: string;
}

export interface PersonAnswer {
  readonly approved: boolean;
  readonly feedback?: string;
}
