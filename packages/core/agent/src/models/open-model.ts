/** From `[model]` to something that answers. Each provider's library is evaluated only when it is the one in use. */
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4GenerateResult,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";
import { SvcError } from "@svc/contract";
import type { CoreConfig } from "@svc/config";
import { currentScope } from "@svc/runtime";
import { estimateTokens } from "./tokens.ts";

export type ModelConfig = Omit<CoreConfig["model"], "choices">;

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

/** Throws CONFIG_INVALID when the section is not complete. */
export async function openModel(config: ModelConfig): Promise<LanguageModelV4> {
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
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      return createAnthropic({ baseURL: baseUrlOf(config) ?? "", apiKey, fetch })(name);
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

// The way out to a model's provider.

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

/**
 * The embedded model: no key, no network, no intelligence, and it says so. It repeats the message word for word, and `/tool <name> <json>`
 * makes it call that tool through the ordinary loop and answer with the result, so that a whole installation can be tried, tested and
 * benchmarked offline.
 */
const ABOUT =
  "This is the built-in model of svc. It only repeats messages and runs /tool <name> <json>. " +
  "Set [model] in config.toml to get real answers.";

export const builtinModel: LanguageModelV4 = {
  specificationVersion: "v4",
  provider: "builtin",
  modelId: "builtin",
  supportedUrls: {},
  doGenerate: async (options) => generate(options),
  doStream: async (options) => ({ stream: toStream(generate(options)) }),
};

function generate(options: LanguageModelV4CallOptions): LanguageModelV4GenerateResult {
  options.abortSignal?.throwIfAborted();
  const content = answer(options.prompt.at(-1));
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

function answer(message: LanguageModelV4Message | undefined): Answer {
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
