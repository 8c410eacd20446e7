/** The gateway of a daemon: what it is handed of the service, the page's files, and how push messages go out. */
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { getRawAsset, isSea } from "node:sea";
import type { ConfigSchema } from "@svc/api";
import type { ReloadReport } from "@svc/api/control";
import { configJsonSchema, type LoadedConfig } from "@svc/config";
import { type Gateway, type GatewayDeps, type PageFile, startGateway } from "@svc/gateway";
import { createGuardedFetch, createGuardedResolve, type GuardedFetch } from "@svc/kit";
import { systemClock } from "@svc/kit/system-clock";
import type { CommandContext } from "../../cli/command.ts";
import { channelList } from "../channels.ts";
import { gatewaySettings } from "../reload.ts";
import { sendTest } from "../handlers/channels.ts";
import { featureList, healthOf, statusReport, toolList } from "../status.ts";
import { OperationsDesk } from "../operations.ts";
import type { Service } from "../service.ts";
import { SettingsDesk } from "../settings-admin.ts";
import { featureSecrets } from "../features.ts";

export async function openGateway(context: CommandContext, service: Service): Promise<Gateway> {
  const { context: opened, config, generation, messaging, lifecycle, events, governance } = service;
  const gateway: Gateway = await startGateway({
    ...gatewaySettings(opened, config, generation.registry),
    inbox: messaging,
    messageAdmin: messaging.messageAdmin,
    attachments: service.attachments,
    speech: messaging.speech,
    events: events.hub,
    approvals: governance.approvals,
    policyRules: governance.rules,
    settingsAdmin: settingsDesk(service),
    operations: new OperationsDesk(service, context.env),
    sops: governance.sops,
    sopAuthor: governance.author,
    channelEvents: governance.channelEvents,
    pageSessions: service.store.pageSessions,
    push: pushDeps(service),
    page: await loadPage(),
    isChannelUp: (channel) => {
      const owner = service.generation.registry.channelOwners.get(channel);
      return owner !== undefined && lifecycle.stateOf(owner) !== "failed";
    },
    isUp: (feature) => lifecycle.stateOf(feature) !== "failed",
    onClientGone: (clientId) => lifecycle.forget(clientId),
    store: service.store,
    turns: service.agent,
    sessions: service.agent.sessions,
    status: () => statusReport(context.build, service, gateway),
    tools: () => toolList(service),
    channels: () => ({ channels: channelList(service) }),
    features: () => featureList(service),
    configReport: () => service.config.redacted(),
    configSchema: async () => (await configJsonSchema(opened.composition.features)) as ConfigSchema,
    health: () => healthOf(service),
    tracer: lifecycle.tracer,
    log: service.context.log,
    clock: systemClock,
    version: context.build.version,
    instance: randomUUID(),
  });
  service.countConnections = () => gateway.connections;
  return gateway;
}

function settingsDesk(service: Service): SettingsDesk {
  return new SettingsDesk(
    service,
    () => service.reload() as Promise<ReloadReport>,
    (request, signal) => sendTest(service, request, signal),
  );
}

/** By the path that a browser asks for: out of the binary, or what `pnpm dev` has built when the sources run. */
async function loadPage(): Promise<ReadonlyMap<string, PageFile>> {
  const read = isSea() ? embedded : built;
  const entries = JSON.parse(new TextDecoder().decode(await read("page.json"))) as PageEntry[];
  const files = entries.map(async ({ path, file, gzip, type, immutable }): Promise<[string, PageFile]> => {
    const [bytes, gzipped] = await Promise.all([read(file), gzip === null ? undefined : read(gzip)]);
    return [path, { type, bytes, ...(gzipped && { gzip: gzipped }), isImmutable: immutable }];
  });
  return new Map(await Promise.all(files));
}

/** As packages/tooling/compose/src/page.ts writes it. */
interface PageEntry {
  readonly path: string;
  readonly file: string;
  readonly gzip: string | null;
  readonly type: string;
  readonly immutable: boolean;
}

/** A view of the binary as it lies in memory: nothing is copied. */
const embedded = async (name: string): Promise<Uint8Array> => new Uint8Array(getRawAsset(`page/${name}`));

const built = (name: string): Promise<Uint8Array> =>
  readFile(join(import.meta.dirname, "../../../../dashboard/dist", name));

/** No feature has this id: a feature's has no colon. */
const PUSH_OWNER = "core:push";

/** What push messages go out by, and where their subscriptions are kept. The outgoing client is made anew when the config in force is another. */
function pushDeps(service: Pick<Service, "context" | "store" | "config">): GatewayDeps["push"] {
  const { home, log } = service.context;
  let of: LoadedConfig | undefined;
  let fetch: GuardedFetch;
  return {
    secrets: featureSecrets(PUSH_OWNER, home, () => service.store),
    fetch: async (url, options) => {
      const now = service.config;
      if (of !== now) {
        const allowPrivate = now.core["security.net"].allow_private;
        fetch = createGuardedFetch({ allowPrivate, log, clock: systemClock });
        of = now;
      }
      return fetch(url, options);
    },
    resolve: (url) => createGuardedResolve({ allowPrivate: service.config.core["security.net"].allow_private })(url),
  };
}
