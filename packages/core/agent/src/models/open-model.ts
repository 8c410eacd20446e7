/** From `[model]` to something that answers. Each provider's library is evaluated only when it is the one in use. */
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { SvcError } from "@svc/contract";
import type { CoreConfig } from "@svc/kernel";
import { builtinModel } from "./builtin.ts";

export type ModelConfig = CoreConfig["model"];

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
  return undefined;
}

/** Throws CONFIG_INVALID when the section is not complete. */
export async function openModel(config: ModelConfig): Promise<LanguageModelV4> {
  const problem = modelProblem(config);
  if (problem) throw problem;
  const name = config.name ?? "";
  const settings = {
    ...(config.base_url && { baseURL: config.base_url }),
    ...(config.api_key && { apiKey: config.api_key }),
  };
  switch (config.provider) {
    case "builtin":
      return builtinModel;
    case "openai": {
      const { createOpenAI } = await import("@ai-sdk/openai");
      return createOpenAI(settings)(name);
    }
    case "anthropic": {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      return createAnthropic(settings)(name);
    }
    case "openai-compatible": {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
      return createOpenAICompatible({
        ...settings,
        baseURL: config.base_url ?? "",
        name: "openai-compatible",
        includeUsage: true,
      })(name);
    }
  }
}
