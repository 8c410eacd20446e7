/** What is told about the running service: `svc status`, GET /api/status, /api/tools, /api/features. Never a secret. */
import { type SandboxChoice, approvalOf, choosableNames, isPriceKnown, modelName, utcDay } from "@svc/agent";
import { type CatalogueEntry, type Tool, featureIdOf } from "@svc/contract";
import type { FeatureReport, StatusReport, ToolReport } from "@svc/api";
import type { Gateway, Health, HealthUnit } from "@svc/gateway";
import type { Build } from "../main.ts";
import { DEFAULT_AGENT, type ResolvedAgent, resolveAgents } from "@svc/config";
import type { FeatureState } from "@svc/runtime";
import { systemClock } from "@svc/kit/system-clock";
import { channelList, lastFailure, unsignedChannels } from "../channels/channel-list.ts";
import { sandboxFeatureState, sandboxState } from "./sandbox-state.ts";
import type { Service } from "./service.ts";

export function statusReport(build: Build, service: Service, gateway: Gateway): StatusReport {
  const { context, config, agent, lifecycle, store } = service;
  const { sandbox } = service.generation;
  const { core } = config;
  const health = healthOf(service);
  const load = agent.load();
  const agents = resolveAgents(core);
  const { model } = agents.get(DEFAULT_AGENT)!;
  const entries = new Map(context.composition.catalogue.map((entry) => [entry.id, entry]));
  return {
    status: health.degraded ? "degraded" : "ok",
    instance: gateway.instance,
    version: build.version,
    commit: build.commit,
    profile: context.composition.profile,
    pid: process.pid,
    uptime_secs: Math.floor(process.uptime()),
    url: gateway.url,
    public_url: core.gateway.public_url ?? null,
    home: context.home.root,
    config: config.file,
    model: { provider: model.provider, name: modelName(model), price_known: isPriceKnown(model) },
    agents: [...agents.values()].map((each) => agentLine(service, each)),
    sandbox: sandboxState(sandbox, context.composition),
    pairing: { required: core.gateway.require_pairing, devices: store.devices.all().length },
    turns: { running: load.running, waiting: load.waiting },
    channels: channelList(service),
    messages: messageCounts(service),
    approvals: { waiting: store.approvals.countWaiting() },
    sops: procedureCounts(service),
    activity: { minutes: service.events.activity.minutes() },
    transcription: service.messaging.speech.canTranscribe,
    memory_rss_bytes: process.memoryUsage.rss(),
    warnings: [...config.warnings],
    database: { bytes: store.size(), writable: store.writable() },
    unsigned: [...health.unsigned],
    features: lifecycle.features().map(({ id, state, reason, restarts, lastError }) => ({
      id,
      ...shownState(entries.get(id), { state, reason: reason ?? null }, sandbox),
      last_failure: lastFailure(lastError),
      restarts,
    })),
  };
}

function messageCounts({ messaging }: Service): StatusReport["messages"] {
  const { inbox, outbox, locked, oldestWaitingMs } = messaging.messageAdmin.counts();
  return {
    waiting: inbox.waiting,
    locked,
    failed: inbox.failed,
    outgoing: outbox.waiting,
    dead: outbox.dead,
    oldest_waiting_secs: oldestWaitingMs === undefined ? null : Math.floor(oldestWaitingMs / 1000),
  };
}

function procedureCounts({ governance: { library }, store }: Service): StatusReport["sops"] {
  const loaded = library.list();
  const active = store.sopRuns.active();
  const waiting = active.filter(({ status }) => status === "waiting_approval").length;
  return {
    loaded: loaded.length,
    broken: library.broken().length + loaded.filter(({ problem }) => problem !== undefined).length,
    running: active.length - waiting,
    waiting,
  };
}

/** What an agent is, and what it has spent today. */
function agentLine(
  { store }: Service,
  { name, model, choices, maxCostPerDay, clientMaxCostPerDay }: ResolvedAgent,
): StatusReport["agents"][number] {
  return {
    name,
    provider: model.provider,
    model: modelName(model),
    models: choosableNames({ model, choices }),
    price_known: isPriceKnown(model),
    cost_today_usd: store.usage.spentUsd(utcDay(systemClock.now()), name),
    max_cost_per_day: maxCostPerDay ?? null,
    client_max_cost_per_day: clientMaxCostPerDay ?? null,
  };
}

/** The tools of the default agent, and those that are switched off. */
export function toolList({ config, generation }: Pick<Service, "config" | "generation">): ToolReport {
  const { registry, agents } = generation;
  const { environment } = agents.profiles.get(DEFAULT_AGENT)!;
  const disabled = new Set(config.core.tools.disabled);
  const enabled = environment.tools.map((tool) => describe(tool, registry.toolOwners.get(tool.name), true));
  const off = registry.tools.list().filter((tool) => disabled.has(tool.name));
  return { tools: [...enabled, ...off.map((tool) => describe(tool, registry.toolOwners.get(tool.name), false))] };
}

function describe(tool: Tool, feature: string | undefined, enabled: boolean): ToolReport["tools"][number] {
  const approval = typeof tool.approval === "function" ? "depends on the input" : approvalOf(tool, undefined);
  return { name: tool.name, description: tool.description, approval, feature: feature ?? null, enabled };
}

export function featureList({
  context,
  lifecycle,
  generation,
}: Pick<Service, "context" | "lifecycle" | "generation">): FeatureReport {
  const states = new Map(lifecycle.features().map((feature) => [feature.id, feature]));
  const { profile, catalogue, features } = context.composition;
  return {
    profile,
    sandbox: sandboxState(generation.sandbox, context.composition),
    features: catalogue.map((entry) => {
      const parts = features.filter((part) => featureIdOf(part) === entry.id).flatMap(({ id }) => states.get(id) ?? []);
      const [worst] = parts.toSorted((a, b) => CONCERN.indexOf(a.state) - CONCERN.indexOf(b.state));
      const absent = entry.included ? ("off" as const) : ("absent" as const);
      const own = worst
        ? shownState(entry, { state: worst.state, reason: worst.reason ?? null }, generation.sandbox)
        : { state: absent, reason: null };
      return { ...catalogueLine(entry), ...own };
    }),
  };
}

/** A sandbox that came up confines nothing while it is probed, where its trial failed, and while another is in force. */
function shownState(
  entry: CatalogueEntry | undefined,
  own: { readonly state: FeatureState; readonly reason: string | null },
  sandbox: SandboxChoice,
) {
  const isSandbox = entry?.kind === "sandbox" && !CONCERN_FIRST.has(own.state);
  return (isSandbox && sandboxFeatureState(entry, sandbox)) || own;
}

/** A feature of several parts is told by the one that needs a person most. */
const CONCERN: readonly FeatureState[] = ["failed", "waiting", "constructed", "running", "stopped"];

const CONCERN_FIRST: ReadonlySet<FeatureState> = new Set(["failed", "waiting"]);

function catalogueLine(entry: CatalogueEntry): Omit<FeatureReport["features"][number], "state" | "reason"> {
  const { id, flag, kind, summary, included, planned } = entry;
  return {
    id,
    flag,
    kind,
    summary,
    included,
    planned,
    profiles: [...entry.profiles],
    build: entry.build,
    sections: [...entry.sections],
    tools: [...entry.tools],
  };
}

/** How the parts are: `/health` in public says only whether one is not well, to a bearer and to `svc` which and why. */
export function healthOf({ lifecycle, store, config, generation }: Service): Health {
  const features: HealthUnit[] = lifecycle.features().map(({ id, state, reason }) => ({ id, state, reason }));
  const database: HealthUnit = store.writable()
    ? { id: "database", state: "running" }
    : { id: "database", state: "failed", reason: "The database can't be written; see the log." };
  const { gateway, "channels_config.webhook": webhook } = config.core;
  const open = !gateway.require_pairing && !gateway.require_signatures && !webhook.secret && !webhook.signing_secret;
  const unsigned = unsignedChannels({ generation, config });
  const sandbox = sandboxUnit(generation);
  return {
    degraded: lifecycle.degraded() || database.state === "failed" || generation.sandbox.effective === "unavailable",
    units: [database, ...(sandbox ? [sandbox] : []), ...features],
    unsigned: open ? ["webhook", ...unsigned] : unsigned,
  };
}

/** Only where it is not as it should be. A fallback is a warning as specified; that commands are refused is more than that. */
function sandboxUnit({ sandbox: { effective, warning } }: Service["generation"]): HealthUnit | undefined {
  if (warning === undefined) return undefined;
  return { id: "sandbox", state: effective === "unavailable" ? "failed" : "stopped", reason: warning };
}
