/** What tool calls run in: one per agent, rebuilt whole when a part of it changes. */
import type {
  ClientId,
  Clock,
  DocumentReader,
  ExecRequest,
  ExecResult,
  FetchOptions,
  FetchResult,
  Json,
  Logger,
  Tool,
  ToolContext,
  Workspace,
} from "@svc/contract";
import type { Tracer } from "@svc/runtime";
import type { Store } from "@svc/store";
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

/**
 * Client whose limits a caller counts against. Callers without a token have an identity for each connection and count
 * together, or a new connection would begin with an unused limit.
 */
export type LimitedClient = (clientId: ClientId) => ClientId;

/** What core's own tools are handed beside what every tool gets. A feature's tool must not depend on which call it is. */
export interface CoreToolContext extends ToolContext {
  /** Name of the agent that calls. */
  readonly agent: string;
  /** Names of the tools that the turn has. */
  readonly tools: readonly string[];
  /** The same when the call is made again because the process died; together with `callId` it names the call. */
  readonly turnId: string;
  readonly callId: string;
  /** What `CoreTool.pin` found before a person approved the call; undefined where no person was asked. */
  readonly pinned?: Readonly<Record<string, Json>> | undefined;
}

export type PinnedCall = Pick<CoreToolContext, "turnId" | "callId" | "agent" | "workspace">;

/** A tool of core's own that may keep what it does under the name of the call, and may have a rule of its own. */
export interface CoreTool extends Tool {
  /**
   * Why a call may not run, whoever would say yes to it, as a sentence that the model and the person can act on; undefined: it
   * is the policy's to judge. Asked before the policy, and again after the yes. `input` has passed the schema.
   */
  refuses?(input: unknown, call: Pick<CoreToolContext, "turnId" | "callId">): string | undefined;
  /**
   * What the call would use beside its input, such as the content of files: a person who is asked about the call sees it in place of
   * the input's fields of the same names, and it is part of what the yes is to. What it throws ends the call before anybody is asked.
   */
  pin?(input: unknown, call: PinnedCall): Promise<Readonly<Record<string, Json>> | undefined>;
  /**
   * What a call came to that was cut off, as far as the disk has it; undefined: it has done nothing, and may be made again. A
   * tool without it can't tell.
   */
  recall?(turnId: string, callId: string): { readonly output: Json } | undefined;
}
