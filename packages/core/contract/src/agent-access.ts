/** What a feature that runs child agents reaches of the agents of the config: their rights, never more. */
import type { ClientId } from "./identity.ts";
import type { Json } from "./json.ts";
import type { Interaction } from "./sandbox.ts";
import type { ToolContext } from "./tool.ts";

export interface AgentAccess {
  /** Who makes the tool call with this context. */
  callerOf(context: ToolContext): AgentCaller;
  /** Rights of an agent of the config, or of the default agent, with all its tools. Throws AGENT_UNKNOWN. */
  rightsOf(agent: string | undefined): AgentRights;
  /** Whom the child agents of an operator at this machine belong to. */
  operator(): Promise<ClientId>;
  /** Lends these rights to a child. Each use is judged by the config in force then. Throws AGENT_UNKNOWN. */
  lend(rights: AgentRights, borrower: Borrower): AgentLoan;
  /** Calls `listener` with the id of each turn that has ended. Returns what ends this. */
  onTurnEnd(listener: (turnId: string) => void): () => void;
}

/** Plain data, so that it can be stored. */
export interface AgentRights {
  /** Name of an agent of the config: its model, instructions, policy, workspace, sandbox and budget. */
  readonly agent: string;
  /** The only tools of it; undefined: all of them. */
  readonly tools?: readonly string[];
}

export interface AgentCaller {
  readonly rights: AgentRights;
  readonly clientId: ClientId;
  readonly turnId: string;
}

export interface Borrower {
  /** Names its calls in the journal and in approvals, as a turn does. Never used before. */
  readonly turnId: string;
  readonly clientId: ClientId;
}

export interface AgentLoan {
  /** Absolute path of the workspace. */
  readonly workspace: string;
  readonly maxSteps: number;
  /**
   * One step of the agent's model. `messages` are those of the conversation, as the AI SDK has them, without any of
   * the system. Throws
   * COST_LIMIT, MODEL_*, TOOL_BAD_INPUT for anything else; an abort rejects with the signal's reason.
   */
  askModel(messages: readonly Json[], signal: AbortSignal): Promise<LentAnswer>;
  /** A tool call under the policy, which may ask a person. Failures are results. */
  callTool(call: LentCall, signal: AbortSignal): Promise<LentResult>;
  /** Requests an approval from a person. No answer in time means rejection. */
  askPerson(question: LentQuestion, signal: AbortSignal): Promise<{ readonly approved: boolean }>;
  /** Runs a program in the agent's sandbox until it ends or the signal aborts. Leaves no process behind. */
  runProgram(request: LentProgram, signal: AbortSignal): Promise<{ readonly exitCode: number | null }>;
}

export interface LentAnswer {
  readonly said: Json;
  readonly text: string;
  readonly calls: readonly LentCall[];
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars; undefined when the price is unknown. */
  readonly costUsd: number | undefined;
}

export interface LentCall {
  readonly callId: string;
  readonly tool: string;
  /** JSON text, as the model wrote it. */
  readonly input: string;
}

export interface LentResult {
  readonly ok: boolean;
  readonly message: Json;
}

export interface LentQuestion {
  readonly callId: string;
  readonly tool: string;
  readonly input: Json;
  /** For a person, a sentence. */
  readonly reason: string;
}

export interface LentProgram {
  readonly command: readonly [string, ...string[]];
  /** Once it has started. */
  readonly interact: (interaction: Interaction) => void;
  /** As `ExecRequest.markPrefix`. */
  readonly markPrefix: string;
}
