/** The service without its doors: store, features, sandbox, tools and the agent. The daemon opens it; so does a lone command. */
import { resolve } from "node:path";
import {
  type Agent,
  chooseSandbox,
  createAgent,
  createExec,
  createPolicy,
  noneBackend,
  openWorkspace,
  type SandboxChoice,
  type ToolEnvironment,
} from "@svc/agent";
import { SvcError, type Tool } from "@svc/contract";
import { Lifecycle, type Registry, systemClock } from "@svc/kernel";
import { createGuardedFetch } from "@svc/kit";
import { lockHome, openStore, type Store } from "@svc/store";
import type { ServiceContext } from "./context.ts";
import { missingTool } from "./missing-tool.ts";

export interface Service {
  readonly context: ServiceContext;
  readonly store: Store;
  readonly lifecycle: Lifecycle;
  readonly registry: Registry;
  readonly sandbox: SandboxChoice;
  readonly environment: ToolEnvironment;
  readonly agent: Agent;
  /** Stops the features, closes the store and lets go of the home. */
  close(): Promise<void>;
}

/** Longest tool result that goes to the model, in characters. */
const MAX_OUTPUT_CHARS = 64 * 1024;

/** Throws ALREADY_RUNNING, STORE_*, FEATURE_CONFLICT, CONFIG_INVALID. */
export async function openService(context: ServiceContext, signal: AbortSignal): Promise<Service> {
  const { home, config, log, composition } = context;
  const allowPrivate = config.core["security.net"].allow_private;
  const lifecycle = new Lifecycle({
    definitions: composition.features,
    enabled: composition.features
      .filter((definition) => config.enabled(definition))
      .map((definition) => ({ definition, config: config.configOf(definition) })),
    core: { sandboxes: [noneBackend] },
    log,
    clock: systemClock,
    redact: log.redact,
    fetchFor: ({ config: section }) =>
      createGuardedFetch({ allowPrivate, exempt: ownUrls(section), log, clock: systemClock }),
  });
  await lifecycle.construct();
  const unlock = lockHome(home.lock);
  let store: Store | undefined;
  try {
    store = openStore({
      file: home.database,
      clock: systemClock,
      idempotency: {
        ttlMs: config.core.gateway.idempotency_ttl_secs * 1000,
        maxKeys: config.core.gateway.idempotency_max_keys,
      },
    });
    const registry = await lifecycle.register(signal);
    const sandbox = await chooseSandbox({
      config: config.core["security.sandbox"],
      backends: registry.sandboxes.list(),
      log,
      signal,
    });
    const environment = await openEnvironment(context, registry, sandbox, store);
    const opened = store;
    return {
      context,
      store,
      lifecycle,
      registry,
      sandbox,
      environment,
      agent: createAgent({
        config: config.core,
        store,
        environment,
        clock: systemClock,
        log,
        ...(registry.observers.length > 0 && { publish: (event) => lifecycle.publish(event) }),
      }),
      close: async () => {
        await lifecycle.shutdown();
        opened.close();
        unlock();
      },
    };
  } catch (error) {
    await lifecycle.shutdown();
    store?.close();
    unlock();
    throw error;
  }
}

async function openEnvironment(
  context: ServiceContext,
  registry: Registry,
  sandbox: SandboxChoice,
  store: Store,
): Promise<ToolEnvironment> {
  const { home, config, log, composition } = context;
  const { core } = config;
  // Not against the working directory: a daemon and `svc tools run` in another folder would have two workspaces.
  const root = resolve(home.root, core.workspace.path ?? home.workspace);
  // The config may lie elsewhere (--config), and it holds secrets.
  const hidden = [home.root, config.file];
  const workspace = await openWorkspace(root, {
    forbiddenPaths: core["security.policy"].forbidden_paths,
    hidden,
    workspaceOnly: core["security.policy"].workspace_only,
  });
  const policy = createPolicy({
    policy: core["security.policy"],
    disabledTools: core.tools.disabled,
    sandbox,
    workspace: workspace.root,
    clock: systemClock,
  });
  const disabled = new Set(core.tools.disabled);
  const tools: Tool[] = registry.tools.list().filter((tool) => !disabled.has(tool.name));
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return {
    find: (name) => {
      const tool = byName.get(name);
      if (tool) return tool;
      throw disabled.has(name)
        ? new SvcError("TOOL_REFUSED", "This tool is switched off in the config (tools.disabled).")
        : missingTool(name, [...byName.keys()], composition.catalogue);
    },
    tools,
    policy,
    workspace,
    exec: createExec({
      backend: sandbox.backend,
      config: core["security.sandbox"],
      workspace: workspace.root,
      hidden,
    }),
    fetch: createGuardedFetch({ allowPrivate: core["security.net"].allow_private, log, clock: systemClock }),
    store,
    clock: systemClock,
    log,
    askTimeoutMs: core.approvals.tool_timeout_secs * 1000,
    maxOutputChars: MAX_OUTPUT_CHARS,
  };
}

/** A feature may reach the `api_url` its own section names, wherever that is; nothing else that is private. */
function ownUrls(section: unknown): string[] {
  const url = (section as { api_url?: unknown } | undefined)?.api_url;
  return typeof url === "string" ? [url] : [];
}
