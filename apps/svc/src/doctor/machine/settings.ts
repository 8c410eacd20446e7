/** The checks of what is configured, where the config is in force. */
import { realpath } from "node:fs/promises";
import { chooseSandbox, type SandboxChoice } from "@svc/agent";
import { type Home, homeOf, type LoadedConfig, resolveAgents } from "@svc/config";
import type { Composition } from "@svc/contract";
import { createLogger, Lifecycle } from "@svc/runtime";
import { closedPorts, enabledFeatures, withOfflineChannels } from "../../service/features.ts";
import { trialConfinement, workspaceFolder } from "../../service/confinement.ts";
import { findingsIn } from "../finding.ts";
import { settingsFindings } from "../settings/checks.ts";
import type { Check, Machine } from "./machine.ts";

export const settings: Check = {
  id: "settings",
  async find(machine, signal) {
    const { report } = await machine.daemon();
    if (report) return findingsIn(report.findings);
    const { config } = await machine.config();
    if (!config) return [];
    const composition = await machine.composition();
    const { profile, catalogue, features } = composition;
    const home = homeOf({ SVC_HOME: await real(machine.home.root) });
    const sandbox = await sandboxOf(machine, config, composition, signal).catch(() => undefined);
    const ingress = await withOfflineChannels(
      { home: machine.home, composition, config },
      ({ ingress }) => ingress,
    ).catch(() => undefined);
    const workspaces = await workspacesOf(config, home);
    return settingsFindings({ home, workspaces, config, profile, catalogue, features, sandbox, ingress }, machine);
  },
};

/** As the daemon would choose it: of the features only the sandboxes are made and tried. */
async function sandboxOf(
  { home, clock }: Machine,
  config: LoadedConfig,
  composition: Composition,
  signal: AbortSignal,
): Promise<SandboxChoice> {
  const log = createLogger({ level: "error", json: true, write: () => {}, clock });
  const sandboxes = new Set(composition.catalogue.filter(({ kind }) => kind === "sandbox").map(({ id }) => id));
  const enabled = enabledFeatures({ home, composition, log }, config, closedPorts("A check opens no store."));
  const lifecycle = new Lifecycle({
    definitions: composition.features,
    enabled: enabled.filter(({ definition }) => sandboxes.has(definition.id)),
    log,
    clock,
    redact: log.redact,
  });
  try {
    await lifecycle.construct();
    const registry = await lifecycle.register(signal);
    const backends = registry.sandboxes.list();
    const trial = await trialConfinement(home, config);
    try {
      const { confinement, obstacle } = trial;
      const sandboxConfig = config.core["security.sandbox"];
      return await chooseSandbox({ config: sandboxConfig, backends, confinement, obstacle, log, signal, clock });
    } finally {
      await trial.dispose();
    }
  } finally {
    await lifecycle.shutdown();
  }
}

async function workspacesOf(config: LoadedConfig, home: Home): Promise<ReadonlyMap<string, string>> {
  const agents = [...resolveAgents(config.core).values()];
  return new Map(
    await Promise.all(agents.map(async (agent) => [agent.name, await real(workspaceFolder(home, agent))] as const)),
  );
}

const real = (path: string): Promise<string> => realpath(path).catch(() => path);
