/** What the tool calls of one agent run in: its tools, its policy, its workspace, the sandbox and the way out. */
import {
  type ActionHistories,
  createExec,
  createPolicy,
  openWorkspace,
  type SandboxInForce,
  type ToolEnvironment,
} from "@svc/agent";
import { absentBrowser, type LoadedConfig, type ResolvedAgent } from "@svc/config";
import { type CatalogueEntry, SvcError, type Tool } from "@svc/contract";
import { limitedClient } from "@svc/gateway/identity";
import { createGuardedFetch } from "@svc/kit";
import { systemClock } from "@svc/kit/system-clock";
import { currentScope, type Ongoing, type Registry, type Tracer } from "@svc/runtime";
import { SOP_TOOLS } from "@svc/sop";
import type { Store } from "@svc/store";
import { closest, distance } from "fastest-levenshtein";
import { confinementOfAgent, hiddenPaths, workspaceFolder } from "./confinement.ts";
import type { ServiceContext } from "./context.ts";

/** Longest tool result that goes to the model, in characters. */
const MAX_OUTPUT_CHARS = 64 * 1024;

export interface EnvironmentDeps {
  readonly context: ServiceContext;
  readonly config: LoadedConfig;
  readonly registry: Registry;
  readonly probe: SandboxInForce;
  readonly store: Store;
  readonly tracer: Tracer;
  readonly calls: Ongoing;
  /** What each agent did in the last hour; outlives a reload. */
  readonly actions: ActionHistories;
  readonly hasProcedures: boolean;
}

export async function openEnvironment(deps: EnvironmentDeps, agent: ResolvedAgent): Promise<ToolEnvironment> {
  const { home, log } = deps.context;
  const { tracer, probe } = deps;
  const { core } = deps.config;
  const root = workspaceFolder(home, agent);
  const hidden = hiddenPaths(home, deps.config);
  const { forbidden_paths: forbiddenPaths, workspace_only: workspaceOnly } = agent.policy;
  // While it is probed: files that tools write meanwhile must be those of whom commands will run as.
  const confines = !["none", "unavailable"].includes(probe.choice.effective);
  const { confinement, obstacle } = await confinementOfAgent(home, deps.config, agent, { confines });
  const workspace = await openWorkspace(root, { forbiddenPaths, hidden, workspaceOnly });
  return {
    agent: agent.name,
    ...toolsOf(deps, agent),
    policy: createPolicy({
      agent: agent.name,
      policy: agent.policy,
      disabledTools: core.tools.disabled,
      sandbox: {
        get effective() {
          return probe.choice.effective;
        },
        get chosenNone() {
          return probe.choice.chosenNone;
        },
      },
      workspace: workspace.root,
      actions: deps.actions.of(agent.name),
    }),
    limitedClient,
    workspace,
    sandboxKnown: probe.verdict,
    exec: createExec({
      choice: probe.verdict,
      config: core["security.sandbox"],
      workspace: workspace.root,
      hidden,
      user: confinement.user,
      obstacle,
      tracer,
    }),
    fetch: createGuardedFetch({
      allowPrivate: core["security.net"].allow_private,
      traceparent: () => currentScope().traceparent,
      log,
      clock: systemClock,
    }),
    reader: (type) => deps.registry.readers.get(type),
    track: (work) => deps.calls.during(work),
    store: deps.store,
    clock: systemClock,
    log,
    tracer,
    askTimeoutMs: core.approvals.tool_timeout_secs * 1000,
    maxOutputChars: MAX_OUTPUT_CHARS,
  };
}

/** The tools of this agent, and what is said of one that it does not have. */
function toolsOf(
  { registry, config, context, hasProcedures }: EnvironmentDeps,
  agent: ResolvedAgent,
): Pick<ToolEnvironment, "find" | "tools"> {
  const disabled = new Set(config.core.tools.disabled);
  const own = agent.tools === undefined ? undefined : new Set(agent.tools);
  // Without a channel there is nobody to send to: a tool that can only fail is not offered.
  const isUsable = (name: string): boolean =>
    (name !== "channel_send" || registry.channels.size > 0) && (hasProcedures || !SOP_TOOLS.includes(name));
  const tools: Tool[] = registry.tools
    .list()
    .filter(({ name }) => !disabled.has(name) && (own?.has(name) ?? true) && isUsable(name));
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return {
    tools,
    find: (name) => {
      const tool = byName.get(name);
      if (tool) return tool;
      if (disabled.has(name)) {
        throw new SvcError("TOOL_REFUSED", "This tool is switched off in the config (tools.disabled).");
      }
      if (registry.tools.has(name)) {
        throw new SvcError("TOOL_REFUSED", `This agent does not have this tool (agents.${agent.name}.tools).`);
      }
      const { catalogue, features } = context.composition;
      const chosen = absentBrowser(config.core.browser, features, catalogue)?.id;
      throw missingTool(name, [...byName.keys()], catalogue, chosen);
    },
  };
}

// A tool that is not there: the name was wrong, its feature is not in this build, or the feature has nothing to offer it for.

/** `chosen`: id of the feature that the config asks for and that is not in this build. */
function missingTool(
  name: string,
  known: readonly string[],
  catalogue: readonly CatalogueEntry[],
  chosen?: string,
): SvcError {
  const features = catalogue.filter((entry) => entry.tools.includes(name));
  const feature = features.find(({ id }) => id === chosen) ?? features[0];
  if (feature?.planned) {
    return new SvcError(
      "TOOL_UNAVAILABLE",
      `This tool belongs to the feature ${feature.flag}, which is planned and not written yet.`,
    );
  }
  if (feature && !feature.included) {
    return new SvcError(
      "TOOL_UNAVAILABLE",
      `This tool belongs to the feature ${feature.flag}, which is not in this build.`,
      { hint: `Build it in: ${feature.build}` },
    );
  }
  if (feature?.toolsOff) {
    return new SvcError("TOOL_UNAVAILABLE", feature.toolsOff.reason, { hint: feature.toolsOff.hint });
  }
  const near = known.length > 0 ? closest(name, [...known]) : "";
  const guess = near !== "" && distance(name, near) <= 2 ? ` Did you mean ${near}?` : "";
  return new SvcError("TOOL_UNKNOWN", undefined, { hint: `The tools are listed by: svc tools list.${guess}` });
}
