/**
 * Checks of what is configured. They look at the config in force and at nothing else: in the daemon when one runs, whose
 * environment may differ from that of whoever asks; in `svc doctor` itself when none does.
 */
import type { SandboxChoice } from "@svc/agent";
import type { CatalogueEntry } from "@svc/contract";
import {
  DEFAULT_AGENT,
  type Home,
  type LoadedConfig,
  type RegisteredIngress,
  type ResolvedAgent,
  resolveAgents,
} from "@svc/kernel";
import type { Finding } from "../finding.ts";
import { agentFindings } from "./agents.ts";
import { approverFindings } from "./approvers.ts";
import { channelFindings } from "./channels.ts";
import { exposureFindings } from "./exposure.ts";
import { outgoingWebhookFindings } from "./outgoing-webhook.ts";
import { policyFindings } from "./policy.ts";
import { proxyFindings } from "./proxies.ts";
import { publicUrlFindings } from "./public-url.ts";
import { sandboxFindings } from "./sandbox.ts";
import { shortSecretFindings } from "./short-secrets.ts";
import { workspaceFindings } from "./workspace.ts";

export interface Settings {
  /** Symbolic links resolved, as far as they can be. */
  readonly home: Home;
  /** Likewise, by agent. */
  readonly workspaces: ReadonlyMap<string, string>;
  readonly config: LoadedConfig;
  readonly catalogue: readonly CatalogueEntry[];
  /** Undefined: it could not be told. */
  readonly sandbox: SandboxChoice | undefined;
  /** Ways in of the channels that are on. Undefined: they could not be made. */
  readonly ingress: readonly RegisteredIngress[] | undefined;
}

/** `security`: also what opens the service further than it has to be. */
export function settingsFindings(settings: Settings, { security }: { readonly security: boolean }): Finding[] {
  const general = [
    agentFindings,
    sandboxFindings,
    publicUrlFindings,
    channelFindings,
    outgoingWebhookFindings,
    approverFindings,
    shortSecretFindings,
  ];
  const strict = [exposureFindings, proxyFindings, policyFindings, workspaceFindings];
  return [...general, ...(security ? strict : [])].flatMap((find) => find(settings));
}

export const agentsOf = ({ config }: Settings): ResolvedAgent[] => [...resolveAgents(config.core).values()];

/** The section that a key of an agent is in: `[agent]` and the like, or below `[agents.<name>]`. */
export const keyOf = ({ name }: ResolvedAgent, section: string, key: string): string =>
  name === DEFAULT_AGENT ? `${section}.${key}` : `agents.${name}.${NAMED[section] ?? ""}${key}`;

const NAMED: Readonly<Record<string, string>> = { model: "model.", "security.policy": "policy." };
