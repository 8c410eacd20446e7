/** Who answers, as one config makes them. A reload makes another set; nothing in one changes. */
import type { ResolvedAgent, ToolPair } from "@svc/config";
import type { ToolEnvironment } from "./tools/environment.ts";

export interface AgentSet {
  /** By name. The default agent (`DEFAULT_AGENT`) is always there. */
  readonly profiles: ReadonlyMap<string, AgentProfile>;
  /** Turns that run at the same time, over all conversations and agents. */
  readonly maxParallelTurns: number;
  /** Estimated tokens of history that are sent along. */
  readonly historyMaxTokens: number;
  /** Name of the model that titles conversations, of those that an agent may use; undefined: none does. */
  readonly titleModel?: string | undefined;
}

export interface AgentProfile extends Pick<
  ResolvedAgent,
  "name" | "instructions" | "model" | "choices" | "maxCostPerDay" | "clientMaxCostPerDay"
> {
  readonly turn: { readonly timeoutMs: number; readonly maxSteps: number };
  readonly environment: ToolEnvironment;
  /** Where a turn has only some of the agent's tools. Default: none. */
  readonly toolPairs?: readonly ToolPair[];
  /** What features add to the system prompt now. Never throws. Default: nothing. */
  readonly promptContext?: () => string;
}
