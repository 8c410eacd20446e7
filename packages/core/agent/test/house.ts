/** An agent in memory with a scripted model, two tools, a clock that stands still, and everything that it says kept. */
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Content } from "@ai-sdk/provider";
import { type ClientId, defineTool, SvcError, type Tool, type TurnEvent } from "@svc/contract";
import { type CoreConfig, DEFAULT_AGENT } from "@svc/kernel";
import { openStore, type Store } from "@svc/store";
import { captureLogger, type CapturedLogger, type FakeClock, fakeClock } from "@svc/testkit";
import * as v from "valibot";
import { type Agent, type AgentSet, createAgent, type ToolEnvironment, type TurnResult } from "../src/index.ts";

export type Answer =
  | LanguageModelV4Content[]
  | Error
  | ((options: LanguageModelV4CallOptions) => Promise<LanguageModelV4Content[]>);

export const text = (words: string): LanguageModelV4Content => ({ type: "text", text: words });

export const call = (
  toolName: string,
  input: object = {},
  toolCallId = `call-${toolName}`,
): LanguageModelV4Content => ({ type: "tool-call", toolCallId, toolName, input: JSON.stringify(input) });

/** A model that gives these answers, one a call, 10 tokens in and 5 out each, and keeps what it was asked. */
export function scripted(...answers: Answer[]): LanguageModelV4 & { asked: LanguageModelV4CallOptions[] } {
  const asked: LanguageModelV4CallOptions[] = [];
  const count = { noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
  return {
    asked,
    specificationVersion: "v4",
    provider: "test",
    modelId: "scripted",
    supportedUrls: {},
    doGenerate: async (options) => {
      const { abortSignal: _, ...kept } = options;
      asked.push(structuredClone(kept));
      const answer = answers.shift();
      if (answer === undefined) throw new Error("the script is over");
      if (answer instanceof Error) throw answer;
      return {
        content: typeof answer === "function" ? await answer(options) : answer,
        finishReason: { unified: "stop", raw: undefined },
        usage: {
          inputTokens: { ...count, total: 10 },
          outputTokens: { text: undefined, reasoning: undefined, total: 5 },
        },
        warnings: [],
      };
    },
    doStream: () => Promise.reject(new Error("not streamed here")),
  };
}

export const read = defineTool({
  name: "read",
  description: "reads",
  input: v.object({ what: v.optional(v.string()) }),
  approval: "auto",
  run: async ({ what }) => ({ saw: what ?? "nothing" }),
});

export const act = defineTool({
  name: "act",
  description: "acts",
  input: v.object({}),
  approval: "ask",
  run: async () => "done",
});

export interface HouseOptions {
  /** In place of the model of `config`. */
  readonly model?: LanguageModelV4;
  readonly tools?: readonly Tool[];
  /** What the policy says of acting tools. */
  readonly verdict?: "allow" | "ask";
  readonly config?: {
    readonly model?: Partial<CoreConfig["model"]>;
    readonly agent?: Partial<CoreConfig["agent"]>;
  };
  /** Of an earlier house, to go on where it stopped. */
  readonly store?: Store;
}

export interface House {
  readonly agent: Agent;
  readonly store: Store;
  readonly clock: FakeClock;
  readonly events: TurnEvent[];
  readonly log: CapturedLogger;
}

export function house(options: HouseOptions): House {
  const { tools = [read, act], verdict = "allow" } = options;
  const clock = fakeClock();
  const store = options.store ?? openStore({ file: ":memory:", clock, idempotency: { ttlMs: 300_000, maxKeys: 10 } });
  const events: TurnEvent[] = [];
  const log = captureLogger();
  const never = () => Promise.reject(new Error("not in this test"));
  const environment: ToolEnvironment = {
    agent: DEFAULT_AGENT,
    find: (name) => {
      const tool = tools.find((tool) => tool.name === name);
      if (!tool) throw new SvcError("TOOL_UNKNOWN");
      return tool;
    },
    tools,
    policy: {
      judge: (tool) =>
        tool.approval === "ask" && verdict === "ask"
          ? { verdict: "ask", reason: "Acting tools wait." }
          : { verdict: "allow" },
      recordAction: () => {},
    },
    workspace: { root: "/", read: never, write: never, list: never },
    exec: never,
    track: (work) => work(),
    fetch: never,
    store,
    clock,
    log,
    askTimeoutMs: 300_000,
    maxOutputChars: 1000,
  };
  const { agent: settings = {}, model: own = {} } = options.config ?? {};
  const agents: AgentSet = {
    profiles: new Map([
      [
        DEFAULT_AGENT,
        {
          name: DEFAULT_AGENT,
          instructions: settings.instructions,
          model: { provider: "builtin", max_retries: 2, ...own },
          maxCostPerDay: settings.max_cost_per_day,
          turn: { timeoutMs: (settings.turn_timeout_secs ?? 300) * 1000, maxSteps: settings.max_steps ?? 5 },
          environment,
        },
      ],
    ]),
    maxParallelTurns: settings.max_parallel_turns ?? 4,
    historyMaxTokens: settings.history_max_tokens ?? 1000,
  };
  const publish = (event: TurnEvent): void => void events.push(event);
  const model = options.model && { model: options.model };
  const agent = createAgent({ agents, store, clock, log, publish, ...model });
  return { agent, store, clock, events, log };
}

const signal = new AbortController().signal;

const client = "client" as ClientId;

export const ask = (agent: Agent, words: string, more: object = {}): Promise<TurnResult> =>
  agent.run({ clientId: client, text: words, signal, ...more });

/** What the work rejects with; a test awaits it after it has moved the clock. */
export const failure = (work: Promise<unknown>): Promise<SvcError> =>
  work.then(
    () => Promise.reject(new Error("it was to fail")),
    (error: unknown) => error as SvcError,
  );

/** The roles of the messages that a model was sent. */
export const rolesOf = (asked: LanguageModelV4CallOptions | undefined): string[] =>
  (asked?.prompt ?? []).map((message) => message.role);
