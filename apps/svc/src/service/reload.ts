/**
 * A reload: the config is read again, and what depends on a changed section is made anew beside what runs. All of it or
 * nothing: whatever is wrong with the new config, the old one stays in force, and why is said.
 *
 *   load → compare hashes → features: construct, register → sandbox, workspaces, policies → gateway ┐ may fail, undone
 *   swap features, agents, log ─ old features end when no call and no delivery uses them any more   ┘ can't fail
 */
import type { ReloadReport } from "@svc/api/control";
import { listSecrets, type LoadedConfig, sealConfigFile, walkSchema } from "@svc/config";
import { type Composition, SvcError } from "@svc/contract";
import { type Gateway, type GatewaySettings, ingressPathsOf, type RequestsBefore } from "@svc/gateway";
import type { EnabledFeature, LifecycleChange, Registry } from "@svc/runtime";
import type { ServiceContext } from "./context.ts";
import { enabledFeatures, featurePathsOf, otherPartsOf } from "./features.ts";
import { type Generation, makeGeneration } from "./generation.ts";
import type { Service } from "./service.ts";

/** What a reload did, as `svc reload --json` prints it. */
export class Reloader {
  readonly #service: Service;
  readonly #gateway: Gateway;
  readonly #signal: AbortSignal;
  /** The config that the process began with: what needs a restart is still as it says. */
  readonly #started: LoadedConfig;
  /** Called when a reload turned pairing on. */
  onPairingRequired: () => void = noop;
  #running: Promise<ReloadReport> | undefined;
  #next: Promise<ReloadReport> | undefined;
  #refreshing: Promise<void> | undefined;

  /** `signal`: aborted when the service stops. */
  constructor(service: Service, gateway: Gateway, signal: AbortSignal) {
    this.#service = service;
    this.#gateway = gateway;
    this.#signal = signal;
    this.#started = service.config;
  }

  /**
   * Rejects with what is wrong (ConfigError, FEATURE_FAILED, FEATURE_CONFLICT …); the old config is in force then. One at
   * a time: who asks while one runs is answered by the one after it, as the file may have changed meanwhile.
   */
  reload(): Promise<ReloadReport> {
    if (this.#running) {
      const settled = this.#running.then(noop, noop);
      return (this.#next ??= settled.then(() => {
        this.#next = undefined;
        return this.reload();
      }));
    }
    this.#running = this.#reload().finally(() => (this.#running = undefined));
    return this.#running;
  }

  /**
   * The agents' tools go by whether there are procedures. The config is the one in force: whoever writes a procedure, an agent
   * perhaps, must not be able to put another one into force, and one that is half written must not be in the way. Never rejects.
   */
  async followProcedures(): Promise<void> {
    const service = this.#service;
    while (this.#running) await this.#running.then(noop, noop);
    if (service.governance.library.list().length > 0 === service.generation.hasProcedures) return;
    this.#running = this.#apply(service.config).finally(() => (this.#running = undefined));
    await this.#running.catch((error: unknown) =>
      service.context.log.error("the agents' tools for procedures stay as they were", { error: String(error) }),
    );
  }

  /**
   * What features are made of beside their config has changed. As with procedures, the config in force stays. Requests that come while
   * one waits are the same one. Never rejects.
   */
  refresh(): Promise<void> {
    return (this.#refreshing ??= this.#refresh());
  }

  async #refresh(): Promise<void> {
    const { config, context } = this.#service;
    while (this.#running) await this.#running.then(noop, noop);
    this.#refreshing = undefined;
    if (this.#signal.aborted) return;
    this.#running = this.#apply(config).finally(() => (this.#running = undefined));
    await this.#running.catch((error: unknown) =>
      context.log.error("the features' tools stay as they were", { error: String(error) }),
    );
  }

  async #reload(): Promise<ReloadReport> {
    const { context } = this.#service;
    try {
      const config = await context.load();
      const report = await this.#apply(config);
      await sealAtRest(context, config);
      const { changed, features, restart } = report;
      for (const warning of report.warnings) context.log.warn(warning);
      context.log.info("the config was reloaded", {
        changed: changed.join(" ") || "nothing",
        features: features.join(" ") || undefined,
        restart: restart.join(" ") || undefined,
      });
      return report;
    } catch (error) {
      const why = error instanceof SvcError ? error.message : "something unexpected went wrong";
      context.log.error("the config was not reloaded; the old one stays in force", { why });
      throw error;
    }
  }

  async #apply(config: LoadedConfig): Promise<ReloadReport> {
    const service = this.#service;
    const { context, lifecycle, generation: before } = service;
    const changed = changedSections(before.config, config);
    // Of both configs: what a late line of an old credential says must stay hidden.
    context.log.setSecrets([...before.config.secrets(), ...config.secrets()]);
    const enabled = enabledFeatures(context, config, this.#service.ports);
    const isMoved = before.config.core.gateway.public_url !== config.core.gateway.public_url;
    const change = await lifecycle.prepare(
      enabled,
      dependsOn(context.composition, new Set(changed), isMoved),
      this.#signal,
    );
    const { next, requests } = await this.#prepared(config, before, change);
    const retire = change.commit();
    const sent = service.adopt(next);
    // Another workspace has other procedures.
    void service.governance.library.reload();
    if (config.core.gateway.require_pairing && !before.config.core.gateway.require_pairing) this.onPairingRequired();
    // Nothing waits for it: a tool call may take its time, and the service's end ends them all the same.
    void Promise.all([before.calls.idle(), requests.idle(), sent]).then(retire);
    return {
      changed,
      features: change.features,
      restart: needRestart(context, this.#started, config),
      warnings: config.warnings,
    };
  }

  /** The rest of what can fail. The gateway comes last and changes nothing when it does. */
  async #prepared(config: LoadedConfig, before: Generation, change: LifecycleChange): Promise<Prepared> {
    const { context, store, actions, governance, lifecycle } = this.#service;
    const { tracer } = lifecycle;
    const { library } = governance;
    try {
      await library.reload();
      const { registry } = change;
      const hasProcedures = library.list().length > 0;
      const deps = { context, config, registry, store, actions, tracer, before, hasProcedures };
      const next = await makeGeneration({ ...deps, signal: this.#signal });
      this.#signal.throwIfAborted();
      return { next, requests: this.#gateway.reconfigure(gatewaySettings(context, config, registry)) };
    } catch (error) {
      await change.abandon();
      throw error;
    }
  }
}

interface Prepared {
  readonly next: Generation;
  readonly requests: RequestsBefore;
}

const noop = (): void => {};

export const changedSections = (before: LoadedConfig, after: LoadedConfig): string[] =>
  after.sectionNames().filter((name) => before.hash(name) !== after.hash(name));

/**
 * Whatever reaches out was made with [security.net]; whatever has a section was made with that, with those of the feature's other
 * deps, and with `public_url`.
 */
const dependsOn =
  ({ features }: Pick<Composition, "features">, changed: ReadonlySet<string>, isMoved: boolean) =>
  ({ definition }: EnabledFeature): boolean => {
    const { section = "", extends: extended = "" } = definition;
    return (
      changed.has("security.net") ||
      changed.has(section) ||
      changed.has(extended) ||
      otherPartsOf(definition, features).some((other) => changed.has(other.section ?? "")) ||
      (isMoved && section.startsWith("channels_config."))
    );
  };

/** Keys marked so in the schema, whose value differs. */
export function needRestart({ composition }: ServiceContext, before: LoadedConfig, after: LoadedConfig): string[] {
  const valueOf = (config: LoadedConfig, section: string, name: string): unknown =>
    (config.section(section) as Record<string, unknown> | undefined)?.[name];
  return walkSchema(composition.features)
    .filter(({ node }) => node.marks.restart)
    .filter(({ section, path }) => {
      const name = path.at(-1) as string;
      return JSON.stringify(valueOf(before, section, name)) !== JSON.stringify(valueOf(after, section, name));
    })
    .map(({ key }) => key);
}

// `secrets.encrypt`: what stands in the config in plain text is sealed in place, comments and all the rest untouched.

/** Never rejects: a config that can't be written is the operator's decision, and said. */
export async function sealAtRest({ log, home, composition }: ServiceContext, config: LoadedConfig): Promise<void> {
  // The usual start: the file need not be read and parsed again.
  if (!config.hasPlainSecrets) return;
  if (!config.core.secrets.encrypt) return warnOfPlain({ log, home, composition }, config);
  try {
    const { sealed, stillIn } = await sealConfigFile({ file: config.file, home, features: composition.features });
    if (sealed.length > 0) log.info("secrets of the config were encrypted", { keys: sealed.join(" ") });
    if (stillIn.length > 0) {
      log.warn("a secret that was encrypted still stands elsewhere in the config, in a comment perhaps", {
        lines: stillIn.join(" "),
      });
    }
  } catch (error) {
    const why = error instanceof SvcError ? error.message : "something unexpected went wrong";
    log.warn("secrets of the config could not be encrypted; they stay readable in it", { why });
  }
}

/** What can't be revoked once somebody has read it, such as the private key of an account, stays readable by the operator's decision. */
async function warnOfPlain(
  { log, home, composition }: Pick<ServiceContext, "log" | "home" | "composition">,
  { file }: LoadedConfig,
): Promise<void> {
  const secrets = await listSecrets({ home, file, features: composition.features, env: {} }).catch(() => []);
  for (const { key, state, highValue } of secrets) {
    if (highValue !== true || state !== "plain") continue;
    log.error("A SECRET THAT CAN'T BE REVOKED STANDS IN PLAIN TEXT IN THE CONFIG. Set secrets.encrypt = true.", {
      key,
    });
  }
}

/** What one config makes of the gateway. */
export const gatewaySettings = (
  { composition }: Pick<ServiceContext, "composition">,
  config: LoadedConfig,
  { routes, ingress, observers }: Registry,
): GatewaySettings => ({
  config: config.core.gateway,
  webhook: config.core["channels_config.webhook"],
  routes,
  featurePaths: featurePathsOf(composition, config),
  authFeatures: new Set(composition.catalogue.filter(({ kind }) => kind === "auth").map(({ id }) => id)),
  ingress,
  ingressPaths: ingressPathsOf(composition.catalogue),
  exposition: observers.find(({ observer }) => observer.exposition)?.observer.exposition,
  metricsHint: metricsHint(composition, config),
});

/** What `GET /metrics` says where nobody has numbers for it: what to do about that, in this very case. */
const FEATURE = "observability-metrics";
const KEY = '[observability] backend = "metrics"';

function metricsHint({ catalogue }: Pick<Composition, "catalogue">, { core }: LoadedConfig): string {
  const isAsked = core.observability.backend === "metrics";
  const entry = catalogue.find(({ id }) => id === FEATURE);
  if (!entry?.included) {
    const build = `build it in with: ${entry?.build ?? "svc features --all"}`;
    const then = isAsked ? "" : `, then set ${KEY} in the config`;
    return `metrics are off: the feature ${FEATURE} is not in this build; ${build}${then}`;
  }
  return isAsked
    ? `metrics are off: the feature ${FEATURE} failed; svc status says why`
    : `metrics are off: set ${KEY} in the config, then run: svc reload`;
}
