/**
 * Which of its agent's models answers in a conversation. Only what the config offers now: a choice that it offers no more is as
 * good as none.
 */
import type { ClientId } from "@svc/contract";
import type { Store } from "@svc/store";
import type { AgentProfile } from "../profiles.ts";
import { modelName } from "./open-model.ts";

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
