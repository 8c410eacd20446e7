/**
 * Checks of what is configured. They look at the config in force and at nothing else: in the daemon when one runs, whose
 * environment may differ from that of whoever asks; in `svc doctor` itself when none does.
 */
import type { SandboxChoice } from "@svc/agent";
import type { CatalogueEntry, FeatureDefinition } from "@svc/contract";
import { DEFAULT_AGENT, type Home, type LoadedConfig, type ResolvedAgent, resolveAgents } from "@svc/config";
import type { RegisteredIngress } from "@svc/runtime";

export interface Settings {
  /** Symbolic links resolved, as far as they can be. */
  readonly home: Home;
  /** Likewise, by agent. */
  readonly workspaces: ReadonlyMap<string, string>;
  readonly config: LoadedConfig;
  /** Of this build. */
  readonly profile: string;
  readonly catalogue: readonly CatalogueEntry[];
  /** Those of this build: what their sections may hold. */
  readonly features: readonly FeatureDefinition[];
  /** Undefined: it could not be told. */
  readonly sandbox: SandboxChoice | undefined;
  /** Ways in of the channels that are on. Undefined: they could not be made. */
  readonly ingress: readonly RegisteredIngress[] | undefined;
}

export const agentsOf = ({ config }: Settings): ResolvedAgent[] => [...resolveAgents(config.core).values()];

/** The section that a key of an agent is in: `[agent]` and the like, or below `[agents.<name>]`. */
export const keyOf = ({ name }: ResolvedAgent, section: string, key: string): string =>
  name === DEFAULT_AGENT ? `${section}.${key}` : `agents.${name}.${NAMED[section] ?? ""}${key}`;

const NAMED: Readonly<Record<string, string>> = { model: "model.", "security.policy": "policy." };

/** Whether the config lets an agent have a tool, whatever the policy makes of its calls. */
export const mayUse = ({ config }: Settings, agent: ResolvedAgent, tool: string): boolean =>
  !config.core.tools.disabled.includes(tool) && (agent.tools?.includes(tool) ?? true);

export const isConfined = ({ sandbox }: Settings): boolean =>
  sandbox !== undefined && !["none", "unavailable"].includes(sandbox.effective);
