/**
 * What the turns of each agent run with. It is made once and kept until the part of the config that it is made of changes:
 * a reload that changes something else does not open the model again.
 */
import type { LanguageModelV4, LanguageModelV4FunctionTool } from "@ai-sdk/provider";
import type { ClientId, Tool } from "@svc/contract";
import type { AgentProfile } from "../profiles.ts";
import { functionTool } from "../tools/function-tool.ts";
import { type ModelConfig, baseUrlOf, modelName, openModel } from "./open-model.ts";
import type { ModelContext } from "./provider-words.ts";
import type { Store } from "@svc/store";

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
  /** False: the model looks at the last message alone, and is sent no earlier turns. */
  readonly readsHistory: boolean;
}

/** In place of the models that the config names; for tests. */
export type ModelOpener = (config: ModelConfig) => LanguageModelV4;

export class AgentModels {
  readonly #opener: ModelOpener | undefined;
  readonly #settings = new WeakMap<AgentProfile, Promise<TurnSettings>>();
  /** By agent and name of the model. */
  readonly #opened = new Map<string, { readonly config: ModelConfig; readonly model: Promise<LanguageModelV4> }>();
  /** A tool whose feature was made anew is another object. */
  readonly #functionTools = new WeakMap<Tool, LanguageModelV4FunctionTool>();

  constructor(opener: ModelOpener | undefined) {
    this.#opener = opener;
  }

  /** Throws CONFIG_INVALID when the model's section is not complete. */
  settingsOf(profile: AgentProfile): Promise<TurnSettings> {
    const known = this.#settings.get(profile);
    if (known) return known;
    const made = this.#settingsOf(profile);
    this.#settings.set(profile, made);
    made.catch(() => this.#settings.delete(profile));
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
      readsHistory: !isBuiltin,
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
