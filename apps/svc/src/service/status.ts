/** What is told about the running service: `svc status`, GET /api/status, /api/tools, /api/features. Never a secret. */
import { approvalOf } from "@svc/agent";
import type { CatalogueEntry, Json, Tool } from "@svc/contract";
import type { Gateway } from "@svc/gateway";
import type { Build } from "../main.ts";
import type { Service } from "./service.ts";

export function statusReport(build: Build, service: Service, gateway: Gateway): Json {
  const { context, agent, sandbox, lifecycle, store } = service;
  const { core } = context.config;
  const load = agent.load();
  return {
    status: lifecycle.degraded() ? "degraded" : "ok",
    instance: gateway.instance,
    version: build.version,
    commit: build.commit,
    profile: context.composition.profile,
    pid: process.pid,
    uptime_secs: Math.floor(process.uptime()),
    url: gateway.url,
    public_url: core.gateway.public_url ?? null,
    home: context.home.root,
    config: context.config.file,
    model: {
      provider: core.model.provider,
      name: agent.model,
      price_known: core.model.provider === "builtin" || core.model.price !== undefined,
    },
    sandbox: { effective: sandbox.effective, warning: sandbox.warning ?? null },
    pairing: { required: core.gateway.require_pairing, devices: store.devices.all().length },
    turns: { running: load.running, waiting: load.waiting },
    memory_rss_bytes: process.memoryUsage.rss(),
    warnings: [...context.config.warnings],
    features: lifecycle
      .features()
      .map(({ id, state, reason, restarts }) => ({ id, state, reason: reason ?? null, restarts })),
  };
}

export function toolList({
  environment,
  registry,
  context,
}: Pick<Service, "environment" | "registry" | "context">): Json {
  const disabled = new Set(context.config.core.tools.disabled);
  const enabled = environment.tools.map((tool) => describe(tool, registry.toolOwners.get(tool.name), true));
  const off = registry.tools.list().filter((tool) => disabled.has(tool.name));
  return { tools: [...enabled, ...off.map((tool) => describe(tool, registry.toolOwners.get(tool.name), false))] };
}

function describe(tool: Tool, feature: string | undefined, enabled: boolean): Json {
  const approval = typeof tool.approval === "function" ? "depends on the input" : approvalOf(tool, undefined);
  return { name: tool.name, description: tool.description, approval, feature: feature ?? null, enabled };
}

export function featureList({ context, lifecycle }: Pick<Service, "context" | "lifecycle">): Json {
  const states = new Map(lifecycle.features().map((feature) => [feature.id, feature]));
  return {
    profile: context.composition.profile,
    features: context.composition.catalogue.map((entry) => ({
      ...catalogueLine(entry),
      state: states.get(entry.id)?.state ?? (entry.included ? "off" : "absent"),
      reason: states.get(entry.id)?.reason ?? null,
    })),
  };
}

function catalogueLine(entry: CatalogueEntry): { readonly [key: string]: Json } {
  const { id, flag, kind, summary, included, planned } = entry;
  return {
    id,
    flag,
    kind,
    summary,
    included,
    planned,
    profiles: [...entry.profiles],
    sections: [...entry.sections],
    tools: [...entry.tools],
  };
}
