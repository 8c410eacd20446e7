/** What one config makes of the service. A reload makes another generation beside it and swaps; nothing in one changes. */
import {
  type ActionHistories,
  type AgentProfile,
  type AgentSet,
  probeSandbox,
  type SandboxChoice,
  type SandboxInForce,
} from "@svc/agent";
import { type LoadedConfig, resolveAgents, type ResolvedAgent } from "@svc/config";
import { MAX_PROMPT_CONTEXT } from "@svc/contract";
import { Ongoing, type Registry, type Tracer } from "@svc/runtime";
import type { Store } from "@svc/store";
import type { ServiceContext } from "./context.ts";
import { confinementOfAgent, isToConfine } from "./confinement.ts";
import { openEnvironment } from "./environment.ts";

export interface Generation {
  readonly config: LoadedConfig;
  readonly registry: Registry;
  /** In force now: `probing` until the verdict is there. */
  readonly sandbox: SandboxChoice;
  /** Where it comes from; a command waits for its verdict. */
  readonly probe: SandboxInForce;
  /** What it was asked to confine, as text. */
  readonly sandboxFor: string;
  readonly agents: AgentSet;
  /** The agents have the tools for procedures. */
  readonly hasProcedures: boolean;
  /** Tool calls that began in this generation. */
  readonly calls: Ongoing;
}

export interface GenerationDeps {
  readonly context: ServiceContext;
  readonly config: LoadedConfig;
  readonly registry: Registry;
  readonly store: Store;
  readonly actions: ActionHistories;
  readonly tracer: Tracer;
  /** Without procedures the tools for them can only fail. */
  readonly hasProcedures: boolean;
  readonly signal: AbortSignal;
  /** The generation before this one; its sandbox is taken over when nothing about it changed. */
  readonly before?: Generation;
  /** When to probe the sandbox, while others are served already. Default: it is known when the generation is there. */
  readonly probesAfter?: Promise<void>;
}

/** Changes nothing outside but for workspace folders, which it makes. Throws PATH_*, HOME_UNWRITABLE and the like. */
export async function makeGeneration(deps: GenerationDeps): Promise<Generation> {
  const { context, config, registry, store, actions, tracer, hasProcedures } = deps;
  const { core } = config;
  const { probe, sandboxFor } = await sandboxOf(deps);
  const calls = new Ongoing();
  const promptContext = promptContextOf(registry, context);
  const profiles = new Map<string, AgentProfile>();
  for (const agent of resolveAgents(core).values()) {
    const environment = await openEnvironment(
      { context, config, registry, probe, store, calls, actions, tracer, hasProcedures },
      agent,
    );
    profiles.set(agent.name, { ...profileOf(agent, config), environment, promptContext });
  }
  return {
    config,
    registry,
    get sandbox() {
      return probe.choice;
    },
    probe,
    sandboxFor,
    hasProcedures,
    calls,
    agents: {
      profiles,
      maxParallelTurns: core.agent.max_parallel_turns,
      titleModel: core.agent.title_model,
      historyMaxTokens: core.agent.history_max_tokens,
    },
  };
}

function profileOf(agent: ResolvedAgent, { core, toolPairs }: LoadedConfig): Omit<AgentProfile, "environment"> {
  const { name, instructions, model, choices, maxCostPerDay, clientMaxCostPerDay } = agent;
  const turn = { timeoutMs: core.agent.turn_timeout_secs * 1000, maxSteps: core.agent.max_steps };
  return { name, instructions, model, choices, maxCostPerDay, clientMaxCostPerDay, turn, toolPairs };
}

/** What features add to the system prompt, each within its bound. One that throws is logged once a generation. */
function promptContextOf({ promptContexts }: Registry, { log }: ServiceContext): () => string {
  const failed = new Set<string>();
  return () =>
    promptContexts
      .map(({ feature, text }) => {
        try {
          return text().trim().slice(0, MAX_PROMPT_CONTEXT);
        } catch (error) {
          if (!failed.has(feature)) log.warn("a feature's prompt context failed", { feature, error: String(error) });
          failed.add(feature);
          return "";
        }
      })
      .filter((text) => text !== "")
      .join("\n\n");
}

/** Probing takes a moment and says its warning in the log: only when the answer can have changed. */
async function sandboxOf(deps: GenerationDeps): Promise<Pick<Generation, "probe" | "sandboxFor">> {
  const { config, registry, context, signal, before } = deps;
  const backends = registry.sandboxes.list();
  const [agent] = resolveAgents(config.core).values();
  const confines = isToConfine(config) && backends.some(({ id }) => id !== "none");
  const asked = await confinementOfAgent(context.home, config, agent!, { confines });
  const sandboxFor = JSON.stringify(asked);
  const same =
    before !== undefined &&
    before.config.hash("security.sandbox") === config.hash("security.sandbox") &&
    before.sandboxFor === sandboxFor &&
    sameItems(before.registry.sandboxes.list(), backends);
  if (same) return { probe: before.probe, sandboxFor };
  const after = confines ? deps.probesAfter : undefined;
  const options = { config: config.core["security.sandbox"], backends, ...asked, log: context.log, signal };
  const probe = probeSandbox(options, after);
  if (!after) await probe.verdict;
  return { probe, sandboxFor };
}

const sameItems = <T>(a: readonly T[], b: readonly T[]): boolean =>
  a.length === b.length && a.every((item, index) => item === b[index]);
