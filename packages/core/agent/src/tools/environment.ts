/** What tool calls run in: one per agent, rebuilt whole when a part of it changes. */
import type { Clock, ExecRequest, ExecResult, FetchOptions, FetchResult, Logger, Tool, Workspace } from "@svc/contract";
import type { Store } from "@svc/store";

/** The security policy, as far as a call needs it. */
export interface CallPolicy {
  judge(tool: Tool, input: unknown): Verdict;
  /** Counts an acting call that a person approved. */
  recordAction(tool: Tool, input: unknown): void;
}

export type Verdict =
  | { readonly verdict: "allow" }
  | { readonly verdict: "ask"; readonly reason: string }
  | { readonly verdict: "refuse"; readonly rule: string; readonly reason: string };

export interface ToolEnvironment {
  /** Throws TOOL_UNKNOWN, or TOOL_UNAVAILABLE with the way to get it. */
  find(name: string): Tool;
  readonly tools: readonly Tool[];
  readonly policy: CallPolicy;
  readonly workspace: Workspace;
  exec(request: ExecRequest): Promise<ExecResult>;
  fetch(url: string, options?: FetchOptions): Promise<FetchResult>;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** How long a person is waited for. */
  readonly askTimeoutMs: number;
  /** Longest result the model is shown. */
  readonly maxOutputChars: number;
}
