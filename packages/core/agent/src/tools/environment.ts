/** What tool calls run in: one per agent, rebuilt whole when a part of it changes. */
import type {
  Clock,
  DocumentReader,
  ExecRequest,
  ExecResult,
  FetchOptions,
  FetchResult,
  Logger,
  Tool,
  Workspace,
} from "@svc/contract";
import type { Tracer } from "@svc/runtime";
import type { Store } from "@svc/store";
import type { LimitedClient } from "../money/budget.ts";
import type { Policy } from "../policy/index.ts";

export interface ToolEnvironment {
  /** Name of the agent. */
  readonly agent: string;
  /** Throws TOOL_UNKNOWN, or TOOL_UNAVAILABLE with the way to get it. */
  find(name: string): Tool;
  readonly tools: readonly Tool[];
  readonly policy: Policy;
  readonly limitedClient: LimitedClient;
  readonly workspace: Workspace;
  /** Resolves when it is known what confines commands. A call that runs a command line is judged by it. Default: it is. */
  readonly sandboxKnown?: Promise<unknown>;
  exec(request: ExecRequest): Promise<ExecResult>;
  fetch(url: string, options?: FetchOptions): Promise<FetchResult>;
  /** Default: there is none. */
  reader?(type: string): DocumentReader | undefined;
  /**
   * Runs the tool of a call. The service counts running calls here, so that a reload can wait for them
   * before it shuts down what they use. A call that waits for a person is not running.
   */
  track<T>(work: () => Promise<T>): Promise<T>;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Records tool calls. Default: none are recorded. */
  readonly tracer?: Tracer;
  /** How long a person is waited for. */
  readonly askTimeoutMs: number;
  /** Longest result the model is shown. */
  readonly maxOutputChars: number;
}
