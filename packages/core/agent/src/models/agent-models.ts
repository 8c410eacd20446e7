/** The models of the agents: from `[model]` to what a turn asks, the choice of a conversation, and the built-in model. */
import type {
  JSONSchema7,
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FunctionTool,
  LanguageModelV4GenerateResult,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";
import { type ClientId, SvcError, type Tool } from "@svc/contract";
import type { AgentProfile } from "../profiles.ts";
import type { Store } from "@svc/store";
import type { CoreConfig } from "@svc/config";
import { currentScope } from "@svc/runtime";

export interface TurnSettings {
  readonly model: LanguageModelV4;
  /** As in the config. */
  readonly provider: ModelConfig["provider"];
  readonly modelName: string;
  /** Which model it is, for its errors. */
  readonly about: Omit<ModelContext, "redact">;
  readonly instructions: string | undefined;
  readonly maxSteps: number;
  readonly maxRetries: number;
  readonly maxOutputTokens: number | undefined;
  readonly functionTools: LanguageModelV4FunctionTool[];
  /** The model looks at the last message alone, and answers at once: it is sent no earlier turns, and no signal. */
  readonly isBuiltin: boolean;
}

/** In place of the models that the config names; for tests. */
export type ModelOpener = (config: ModelConfig) => LanguageModelV4;

/**
 * What the turns of each agent run with. It is made once and kept until the part of the config that it is made of changes:
 * a reload that changes something else does not open the model again.
 */
export class AgentModels {
  readonly #opener: ModelOpener | undefined;
  readonly #settings = new WeakMap<AgentProfile, Promise<TurnSettings>>();
  /** Those that are made. */
  readonly #known = new WeakMap<AgentProfile, TurnSettings>();
  /** By agent and name of the model. */
  readonly #opened = new Map<string, { readonly config: ModelConfig; readonly model: Promise<LanguageModelV4> }>();
  /** A tool whose feature was made anew is another object. */
  readonly #functionTools = new WeakMap<Tool, LanguageModelV4FunctionTool>();

  constructor(opener: ModelOpener | undefined) {
    this.#opener = opener;
  }

  /** What `settingsOf` resolves with, once it has. */
  knownSettings(profile: AgentProfile): TurnSettings | undefined {
    return this.#known.get(profile);
  }

  /** Throws CONFIG_INVALID when the model's section is not complete. */
  settingsOf(profile: AgentProfile): Promise<TurnSettings> {
    const known = this.#settings.get(profile);
    if (known) return known;
    const made = this.#settingsOf(profile);
    this.#settings.set(profile, made);
    made.then(
      (settings) => this.#known.set(profile, settings),
      () => this.#settings.delete(profile),
    );
    return made;
  }

  /** Lets go of what nobody has any more. */
  keepOnly(agents: ReadonlyMap<string, AgentProfile>): void {
    const named = Array.from(agents.values(), ({ name, model, choices }) => [model, ...choices].map(keyOf(name)));
    const keys = new Set(named.flat());
    for (const key of this.#opened.keys()) if (!keys.has(key)) this.#opened.delete(key);
  }

  modelOf({ name, model: config }: AgentProfile): Promise<LanguageModelV4> {
    const key = keyOf(name)(config);
    const known = this.#opened.get(key);
    if (known && isSameModel(known.config, config)) return known.model;
    const model = this.#open(config);
    this.#opened.set(key, { config, model });
    model.catch(() => {
      if (this.#opened.get(key)?.model === model) this.#opened.delete(key);
    });
    return model;
  }

  /** Names of models are asked for only where the config's own provider is in use. */
  aboutOf({ name, model }: AgentProfile): Omit<ModelContext, "redact"> {
    return { agent: name, config: model, baseUrl: this.#opener ? undefined : baseUrlOf(model) };
  }

  async #open(config: ModelConfig): Promise<LanguageModelV4> {
    return this.#opener ? this.#opener(config) : openModel(config);
  }

  async #settingsOf(profile: AgentProfile): Promise<TurnSettings> {
    const { instructions, model, turn, environment } = profile;
    // The built-in model reads no schemas and no earlier turns: making and copying them would only cost time.
    const isBuiltin = model.provider === "builtin" && this.#opener === undefined;
    return {
      model: await this.modelOf(profile),
      provider: model.provider,
      modelName: modelName(model),
      about: this.aboutOf(profile),
      instructions,
      maxSteps: turn.maxSteps,
      maxRetries: model.max_retries,
      maxOutputTokens: model.max_output_tokens,
      functionTools: isBuiltin ? [] : await Promise.all(environment.tools.map((tool) => this.#functionTool(tool))),
      isBuiltin,
    };
  }

  async #functionTool(tool: Tool): Promise<LanguageModelV4FunctionTool> {
    let made = this.#functionTools.get(tool);
    if (!made) this.#functionTools.set(tool, (made = await functionTool(tool)));
    return made;
  }
}

const keyOf =
  (agent: string) =>
  ({ name }: ModelConfig): string =>
    `${agent}\n${name ?? ""}`;

/** Price, retries and limits of length are not the model's own: they change without opening it again. */
const isSameModel = (a: ModelConfig, b: ModelConfig): boolean =>
  a.provider === b.provider && a.name === b.name && a.base_url === b.base_url && a.api_key === b.api_key;

/**
 * Which of its agent's models answers in a conversation. Only what the config offers now: a choice that it offers no more is as good as
 * none.
 */
export class ChosenModels {
  readonly #conversations: Pick<Store["conversations"], "modelOf">;
  /** The same profile for the same choice: what is made of a profile is kept with it. */
  readonly #profiles = new WeakMap<AgentProfile, Map<string, AgentProfile>>();

  constructor({ conversations }: Pick<Store, "conversations">) {
    this.#conversations = conversations;
  }

  /** The agent as it answers there. */
  profileFor(profile: AgentProfile, owner: ClientId, name: string): AgentProfile {
    if (profile.choices.length === 0) return profile;
    const chosen = this.#conversations.modelOf(owner, name);
    return chosen === undefined ? profile : this.#withModel(profile, chosen);
  }

  #withModel(profile: AgentProfile, chosen: string): AgentProfile {
    const made = this.#profiles.get(profile) ?? new Map<string, AgentProfile>();
    this.#profiles.set(profile, made);
    const known = made.get(chosen);
    const model = profile.choices.find((choice) => modelName(choice) === chosen);
    if (known || !model) return known ?? profile;
    const another = { ...profile, model };
    made.set(chosen, another);
    return another;
  }
}

/** Names that can be chosen, the standing one first. */
export const choosableNames = ({ model, choices }: Pick<AgentProfile, "model" | "choices">): string[] => [
  ...new Set([model, ...choices].map(modelName)),
];

/** A tool as a model is told of it. */
async function functionTool(tool: Tool): Promise<LanguageModelV4FunctionTool> {
  const { toJsonSchema } = await import("@valibot/to-json-schema");
  return {
    type: "function",
    name: tool.name,
    description: tool.description,
    inputSchema: toJsonSchema(tool.input, { errorMode: "ignore" }) as JSONSchema7,
  };
}

export type ModelConfig = Omit<CoreConfig["model"], "choices">;

/** Which model failed: what the fix names, and what must not be quoted. */
export interface ModelContext {
  readonly agent: string;
  readonly config: Pick<ModelConfig, "provider" | "name" | "api_key">;
  /** Where its models can be listed; undefined: nowhere. */
  readonly baseUrl: string | undefined;
  /** Takes the configured secrets out of a text. */
  readonly redact: (text: string) => string;
}

/** The name shown in answers and records. */
export const modelName = (config: ModelConfig): string =>
  config.provider === "builtin" ? "builtin" : (config.name ?? config.provider);

/** What stands in the way of using this section, checked at start; undefined when nothing does. */
export function modelProblem(config: ModelConfig): SvcError | undefined {
  if (config.provider === "builtin") return undefined;
  if (!config.name) {
    return new SvcError("CONFIG_INVALID", "model.name is missing.", {
      hint: 'Name the model, e.g. name = "…" below [model].',
    });
  }
  if (config.provider === "openai-compatible" && !config.base_url) {
    return new SvcError("CONFIG_INVALID", "model.base_url is missing; openai-compatible needs it.", {
      hint: 'For a local server: base_url = "http://127.0.0.1:11434/v1".',
    });
  }
  if (config.provider !== "openai-compatible" && !config.api_key?.trim()) {
    return new SvcError("CONFIG_INVALID", "model.api_key is missing.", {
      hint: "Set it below [model], or in SVC__MODEL__API_KEY.",
    });
  }
  if (!/^[\x21-\x7e]*$/.test(config.api_key?.trim() ?? "")) {
    return new SvcError("CONFIG_INVALID", "model.api_key has characters that no HTTP header can carry.", {
      hint: "Copy the key again; it has only visible ASCII characters and no spaces.",
    });
  }
  return undefined;
}

/**
 * Base URLs are always given: the libraries would otherwise take them from OPENAI_BASE_URL and ANTHROPIC_BASE_URL, and a
 * variable left over from another tool would send the key elsewhere.
 */
const BASE_URLS = { openai: "https://api.openai.com/v1", anthropic: "https://api.anthropic.com/v1" } as const;

/** Where the provider is asked; undefined where none is. */
export const baseUrlOf = ({ provider, base_url }: Pick<ModelConfig, "provider" | "base_url">): string | undefined =>
  base_url ?? (provider === "openai" || provider === "anthropic" ? BASE_URLS[provider] : undefined);

/**
 * From `[model]` to something that answers. Each provider's library is evaluated only when it is the one in use. Throws
 * CONFIG_INVALID when the section is not complete.
 */
async function openModel(config: ModelConfig): Promise<LanguageModelV4> {
  const problem = modelProblem(config);
  if (problem) throw problem;
  const name = config.name ?? "";
  const apiKey = config.api_key?.trim() ?? "";
  const fetch = providerFetch;
  switch (config.provider) {
    case "builtin":
      return builtinModel;
    case "openai": {
      const { createOpenAI } = await import("@ai-sdk/openai");
      const model = createOpenAI({ baseURL: baseUrlOf(config) ?? "", apiKey, fetch })(name);
      return withOptions(model, { openai: { store: false } });
    }
    case "anthropic": {
      const { MessagesModel } = await import("./messages.ts");
      return new MessagesModel({ modelId: name, baseUrl: baseUrlOf(config) ?? "", apiKey });
    }
    case "openai-compatible": {
      const { ChatCompletionsModel } = await import("./chat-completions.ts");
      return new ChatCompletionsModel({ modelId: name, baseUrl: config.base_url ?? "", apiKey });
    }
  }
}

/**
 * `store: false`: else the provider keeps every conversation, and later turns refer to what it kept by id, so that they
 * fail once it has forgotten, or at a server that never kept anything.
 */
function withOptions(
  model: LanguageModelV4,
  providerOptions: NonNullable<LanguageModelV4CallOptions["providerOptions"]>,
): LanguageModelV4 {
  return {
    specificationVersion: "v4",
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doGenerate: (options) => model.doGenerate({ ...options, providerOptions }),
    doStream: (options) => model.doStream({ ...options, providerOptions }),
  };
}

/**
 * Fetch takes the key along to where a redirect leads unless it is an `Authorization` header, so none is followed. Where
 * somebody traces, the provider is told of what its answer is part of (https://www.w3.org/TR/trace-context/).
 */
export const providerFetch: typeof fetch = (input, init) => {
  const { traceparent } = currentScope();
  const headers = traceparent === undefined ? init?.headers : withTraceparent(init?.headers, traceparent);
  return fetch(input, { ...init, ...(headers && { headers }), redirect: "manual" });
};

function withTraceparent(given: RequestInit["headers"], traceparent: string): Headers {
  const headers = new Headers(given);
  if (!headers.has("traceparent")) headers.set("traceparent", traceparent);
  return headers;
}

export type TakePart = (part: LanguageModelV4StreamPart) => void;

/** A model that hands over each part of its answer by a call: a stream of the web costs more than reading the part. */
export interface PushingModel extends LanguageModelV4 {
  /** As `doStream`. Rejects with what `take` throws, and asks for nothing more then. */
  pushParts(options: LanguageModelV4CallOptions, take: TakePart): Promise<void>;
}

export const isPushing = (model: LanguageModelV4): model is PushingModel => "pushParts" in model;

/**
 * About four characters a token: good enough to bound history. For money only where the provider counts nothing, so that a
 * limit holds all the same; never for a cost that is shown.
 */
export const estimateTokens = (text: string): number => tokensIn(text.length);

export const tokensIn = (chars: number): number => Math.ceil(chars / 4);

/**
 * The embedded model: no key, no network, no intelligence, and it says so. It repeats the message word for word, and `/tool <name> <json>`
 * makes it call that tool through the ordinary loop and answer with the result, so that a whole installation can be tried, tested and
 * benchmarked offline.
 */
export const builtinModel: LanguageModelV4 = {
  specificationVersion: "v4",
  provider: "builtin",
  modelId: "builtin",
  supportedUrls: {},
  doGenerate: async (options) => builtinResult(options),
  doStream: async (options) => ({ stream: toStream(builtinResult(options)) }),
};

const ABOUT =
  "This is the built-in model of svc. It only repeats messages and runs /tool <name> <json>. " +
  "Set [model] in config.toml to get real answers.";

function builtinResult(options: LanguageModelV4CallOptions): LanguageModelV4GenerateResult {
  options.abortSignal?.throwIfAborted();
  const content = builtinAnswer(options.prompt.at(-1));
  const calls = content.type === "tool-call";
  const text = content.type === "text" ? content.text : "";
  return {
    content: [content],
    finishReason: { unified: calls ? "tool-calls" : "stop", raw: undefined },
    usage: {
      inputTokens: {
        total: estimateTokens(textOf(options.prompt.at(-1))),
        noCache: undefined,
        cacheRead: undefined,
        cacheWrite: undefined,
      },
      outputTokens: { total: estimateTokens(text), text: undefined, reasoning: undefined },
    },
    warnings: [],
  };
}

type Answer = Extract<LanguageModelV4Content, { type: "text" | "tool-call" }>;

function builtinAnswer(message: LanguageModelV4Message | undefined): Answer {
  if (message?.role === "tool") return { type: "text", text: toolResult(message) };
  const said = textOf(message);
  const call = /^\/tool\s+(\S+)(?:\s+([\s\S]*))?$/.exec(said.trim());
  if (!call) return { type: "text", text: `${said}\n\n${ABOUT}` };
  const input = call[2]?.trim() || "{}";
  if (!isJsonObject(input)) return { type: "text", text: `${said}\n\nWrite it as /tool <name> {"key": "value"}.` };
  return { type: "tool-call", toolCallId: `call_${crypto.randomUUID()}`, toolName: call[1]!, input };
}

function toolResult(message: Extract<LanguageModelV4Message, { role: "tool" }>): string {
  const lines = message.content.map((part) => {
    if (part.type !== "tool-result") return "";
    const { output } = part;
    if (output.type === "execution-denied") return `${part.toolName}: ${output.reason ?? "refused"}`;
    if (output.type === "content") return `${part.toolName}: ${JSON.stringify(output.value)}`;
    const value = output.type === "json" || output.type === "error-json" ? JSON.stringify(output.value) : output.value;
    return `${part.toolName}: ${value}`;
  });
  return lines.join("\n");
}

function textOf(message: LanguageModelV4Message | undefined): string {
  if (message?.role !== "user") return "";
  return message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** Word by word, so that streaming can be seen. */
function toStream(result: LanguageModelV4GenerateResult): ReadableStream<LanguageModelV4StreamPart> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue({ type: "stream-start", warnings: [] });
      for (const part of result.content) {
        if (part.type === "tool-call") controller.enqueue(part);
        if (part.type !== "text") continue;
        controller.enqueue({ type: "text-start", id: "0" });
        for (const delta of part.text.match(/\S+\s*|\s+/g) ?? [])
          controller.enqueue({ type: "text-delta", id: "0", delta });
        controller.enqueue({ type: "text-end", id: "0" });
      }
      controller.enqueue({ type: "finish", usage: result.usage, finishReason: result.finishReason });
      controller.close();
    },
  });
}
