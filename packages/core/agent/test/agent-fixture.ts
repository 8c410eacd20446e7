/** An agent in memory with a scripted model, two tools, a clock that stands still, and everything that it says kept. */
import { approvalScopeOf } from "../src/policy/approval-scope.ts";
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";
import { type ClientId, defineTool, type SessionEvent, SvcError, type Tool, type TurnEvent } from "@svc/contract";
import { type CoreConfig, DEFAULT_AGENT } from "@svc/config";
import { currentScope } from "@svc/runtime";
import { openStore, type Store } from "@svc/store";
import { captureLogger, type CapturedLogger } from "@svc/testkit/capture-logger";
import { type FakeClock, fakeClock } from "@svc/testkit/fake-clock";
import * as v from "valibot";
import {
  type Agent,
  type AgentOptions,
  type AgentProfile,
  type AgentSet,
  createAgent,
  type ToolEnvironment,
  type TurnResult,
} from "../src/index.ts";

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

export type Scripted = LanguageModelV4 & { asked: LanguageModelV4CallOptions[] };

/** A model that gives these answers, one a call, 10 tokens in and 5 out each, and keeps what it was asked. */
export function scripted(...answers: Answer[]): Scripted {
  return counting({ in: 10, out: 5 }, ...answers);
}

/** The same with other counts; undefined: the provider does not tell. Streamed, a text comes letter by letter. */
export function counting(tokens: { in: number | undefined; out: number | undefined }, ...answers: Answer[]): Scripted {
  const asked: LanguageModelV4CallOptions[] = [];
  const count = { noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
  const usage = {
    inputTokens: { ...count, total: tokens.in },
    outputTokens: { text: undefined, reasoning: undefined, total: tokens.out },
  };
  const finishReason = { unified: "stop", raw: undefined } as const;
  const next = async (options: LanguageModelV4CallOptions): Promise<LanguageModelV4Content[]> => {
    const { abortSignal: _, ...kept } = options;
    asked.push(structuredClone(kept));
    const answer = answers.shift();
    if (answer === undefined) throw new Error("the script is over");
    if (answer instanceof Error) throw answer;
    return typeof answer === "function" ? answer(options) : answer;
  };
  return {
    asked,
    specificationVersion: "v4",
    provider: "test",
    modelId: "scripted",
    supportedUrls: {},
    doGenerate: async (options) => ({ content: await next(options), finishReason, usage, warnings: [] }),
    doStream: async (options) => {
      const content = await next(options);
      const end: LanguageModelV4StreamPart = { type: "finish", usage, finishReason };
      return { stream: streamOf([...content.flatMap(inPieces), end]) };
    },
  };
}

/** `ReadableStream.from`, which the types of browsers do not know. */
export function streamOf<T>(parts: Iterable<T> | AsyncIterable<T>): ReadableStream<T> {
  const iterator = (async function* () {
    yield* parts;
  })();
  const pull = async (controller: ReadableStreamDefaultController<T>): Promise<void> => {
    const { done, value } = await iterator.next();
    if (done) controller.close();
    else controller.enqueue(value);
  };
  return new ReadableStream({ pull }, { highWaterMark: 0 });
}

function inPieces(part: LanguageModelV4Content, index: number): LanguageModelV4StreamPart[] {
  if (part.type !== "text") return [part as LanguageModelV4StreamPart];
  const id = String(index);
  const deltas = [...part.text].map((delta) => ({ type: "text-delta", id, delta }) as const);
  return [{ type: "text-start", id }, ...deltas, { type: "text-end", id }];
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

/** What a test says of one agent; the rest is as it usually is. */
export interface AgentWords {
  readonly model?: Partial<CoreConfig["model"]>;
  readonly instructions?: string;
  readonly maxCostPerDay?: number;
  readonly clientMaxCostPerDay?: number;
  readonly tools?: readonly Tool[];
  /** What the policy says of acting tools. */
  readonly verdict?: "allow" | "ask" | "refuse";
  readonly track?: ToolEnvironment["track"];
  readonly exec?: ToolEnvironment["exec"];
  /** Names of other models that people may choose; priced like its own. */
  readonly choices?: readonly string[];
  readonly promptContext?: () => string;
}

export interface AgentFixtureOptions extends Pick<
  AgentOptions,
  "model" | "redact" | "partialSecret" | "isListened" | "ask" | "attachments" | "tracer" | "limitedClient"
> {
  readonly tools?: readonly Tool[];
  /** What the policy says of acting tools. */
  readonly verdict?: "allow" | "ask" | "refuse";
  readonly exec?: ToolEnvironment["exec"];
  /** Of the default agent. */
  readonly choices?: readonly string[];
  readonly config?: {
    readonly model?: Partial<CoreConfig["model"]>;
    readonly agent?: Partial<CoreConfig["agent"]>;
  };
  /** Beside the default one. */
  readonly agents?: Readonly<Record<string, AgentWords>>;
  /** Of an earlier fixture, to go on where it stopped. */
  readonly store?: Store;
  readonly clock?: FakeClock;
}

export interface AgentFixture {
  readonly agent: Agent;
  readonly store: Store;
  readonly clock: FakeClock;
  readonly events: TurnEvent[];
  /** Changes of conversations that were told. */
  readonly changed: SessionEvent[];
  readonly log: CapturedLogger;
  /** Agents as another config would make them, for `reconfigure`. */
  set(options: AgentFixtureOptions): AgentSet;
}

export function agentFixture(options: AgentFixtureOptions): AgentFixture {
  const { clock = fakeClock() } = options;
  const idempotency = { ttlMs: 300_000, maxKeys: 10 };
  const store = options.store ?? openStore({ file: ":memory:", clock, idempotency, traceparent: traceparentNow });
  const events: TurnEvent[] = [];
  const changed: SessionEvent[] = [];
  const log = captureLogger();
  const { model, redact, partialSecret, isListened, tracer } = options;
  const set = (of: AgentFixtureOptions): AgentSet => setOf(of, { store, clock, log, ...(tracer && { tracer }) });
  const agent = createAgent({
    agents: set(options),
    store,
    clock,
    log,
    publish: (event) => void (event.type === "session-updated" ? changed.push(event) : events.push(event)),
    ...(model && { model }),
    ...(redact && { redact }),
    ...(partialSecret && { partialSecret }),
    ...(options.ask && { ask: options.ask }),
    ...(options.limitedClient && { limitedClient: options.limitedClient }),
    ...(options.attachments && { attachments: options.attachments }),
    ...(tracer && { tracer }),
    ...(isListened && { isListened }),
  });
  return { agent, store, clock, events, changed, log, set };
}

/** As the service hands it to whoever keeps it, or tells others. */
export const traceparentNow = (): string | undefined => currentScope().traceparent;

type Surroundings = Pick<ToolEnvironment, "store" | "clock" | "log" | "tracer">;

function setOf({ config = {}, agents = {}, ...own }: AgentFixtureOptions, around: Surroundings): AgentSet {
  const { agent = {}, model } = config;
  const turn = { timeoutMs: (agent.turn_timeout_secs ?? 300) * 1000, maxSteps: agent.max_steps ?? 5 };
  const main: AgentWords = {
    ...(model && { model }),
    ...(own.tools && { tools: own.tools }),
    ...(own.choices && { choices: own.choices }),
    ...(own.verdict && { verdict: own.verdict }),
    ...(own.exec && { exec: own.exec }),
    ...(agent.instructions !== undefined && { instructions: agent.instructions }),
    ...(agent.max_cost_per_day !== undefined && { maxCostPerDay: agent.max_cost_per_day }),
    ...(agent.client_max_cost_per_day !== undefined && { clientMaxCostPerDay: agent.client_max_cost_per_day }),
  };
  const profileOf = (name: string, words: AgentWords): AgentProfile => {
    const model = { provider: "builtin", max_retries: 2, ...words.model } as const;
    return {
      name,
      instructions: words.instructions,
      model,
      choices: (words.choices ?? []).map((choice) => ({ ...model, name: choice })),
      maxCostPerDay: words.maxCostPerDay,
      clientMaxCostPerDay: words.clientMaxCostPerDay,
      turn,
      environment: environmentOf(name, words, around),
      ...(words.promptContext && { promptContext: words.promptContext }),
    };
  };
  const profiles = Object.entries({ [DEFAULT_AGENT]: main, ...agents }).map(
    ([name, words]) => [name, profileOf(name, words)] as const,
  );
  return {
    profiles: new Map(profiles),
    maxParallelTurns: agent.max_parallel_turns ?? 4,
    titleModel: agent.title_model,
    historyMaxTokens: agent.history_max_tokens ?? 1000,
  };
}

function environmentOf(agent: string, words: AgentWords, around: Surroundings): ToolEnvironment {
  const { tools = [read, act], verdict = "allow", track = (work) => work() } = words;
  const never = () => Promise.reject(new Error("not in this test"));
  return {
    ...around,
    agent,
    find: (name) => {
      const tool = tools.find((tool) => tool.name === name);
      if (!tool) throw new SvcError("TOOL_UNKNOWN");
      return tool;
    },
    tools,
    policy: {
      judge: (tool) => {
        if (tool.approval !== "ask" || verdict === "allow") return { verdict: "allow" };
        if (verdict === "ask") return { verdict, reason: "Acting tools wait." };
        return { verdict, rule: "test", reason: "Locked down." };
      },
      recordAction: () => {},
      lasting: (tool, input) => approvalScopeOf(tool, input, { agent, workspace: "/", forbiddenPaths: [] }),
    },
    workspace: { root: "/", read: never, write: never, list: never, remove: never },
    exec: words.exec ?? never,
    fetch: never,
    track,
    limitedClient: (clientId) => clientId,
    askTimeoutMs: 300_000,
    maxOutputChars: 1000,
  };
}

const signal = new AbortController().signal;

export const client = "client" as ClientId;

export const ask = (agent: Agent, words: string, more: object = {}): Promise<TurnResult> =>
  agent.run({ clientId: client, text: words, signal, ...more });

/** What the work rejects with; a test awaits it after it has moved the clock. */
export const failure = (work: Promise<unknown>): Promise<SvcError> =>
  work.then(
    () => Promise.reject(new Error("it was to fail")),
    (error: unknown) => error as SvcError,
  );

/** A promise, and the means to keep it. */
export interface Gate<T = void> {
  readonly opened: Promise<T>;
  readonly open: (value: T) => void;
}

export function gate<T = void>(): Gate<T> {
  const { promise: opened, resolve: open } = Promise.withResolvers<T>();
  return { opened, open };
}

/** Resolves when it is so, a turn of the event loop later than it could. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise(setImmediate);
}

/** An answer that never comes, until the call is called off. */
export const hang = (options: LanguageModelV4CallOptions): Promise<never> =>
  new Promise((_, reject) => {
    options.abortSignal!.addEventListener("abort", () => reject(options.abortSignal!.reason as Error));
  });

/** The roles of the messages that a model was sent. */
export const rolesOf = (asked: LanguageModelV4CallOptions | undefined): string[] =>
  (asked?.prompt ?? []).map((message) => message.role);

/** The last message that a model was sent, as JSON. */
export const lastSent = (model: Scripted): string => JSON.stringify(model.asked.at(-1)?.prompt.at(-1));
