/** From `[model]` to something that answers. Each provider's library is evaluated only when it is the one in use. */
import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { SvcError } from "@svc/contract";
import type { CoreConfig } from "@svc/kernel";
import { builtinModel } from "./builtin.ts";
import { providerFetch } from "./provider-fetch.ts";

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
