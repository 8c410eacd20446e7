/** The features that a config turns on, each with what it is handed: its section, its way out, its stores, its way in. */
import { type Home, type LoadedConfig, openKeyRing } from "@svc/config";
import {
  type CatalogueEntry,
  type Composition,
  type FeatureContext,
  type FeatureDefinition,
  featureIdOf,
  type Inbound,
  type Kept,
  type Readings,
  type ReceivedWith,
  type SecretStore,
  type Speech,
  type StateStore,
  SvcError,
  type Triggered,
  type TriggeredWith,
  type TriggerEvent,
  trimEndOf,
} from "@svc/contract";
import type { FeaturePath } from "@svc/gateway";
import { createGuardedFetch, createGuardedResolve } from "@svc/kit";
import { systemClock } from "@svc/kit/system-clock";
import { channelIdOf, createLogger, currentScope, type EnabledFeature, Lifecycle, type Registry } from "@svc/runtime";
import { ownerOfClient, type Store } from "@svc/store";
import type { ServiceContext } from "./context.ts";
import { selfCommand } from "../binary/self-command.ts";

/** `owner`: the feature whose state it is. */
export interface OwnedMore extends ReceivedWith {
  readonly owner: string;
}

/** What features reach of a service that is made after them. */
export interface FeaturePorts {
  /** Open from the Registration phase on. */
  store(): Store;
  /** From the Execution phase on. */
  receive(channel: string, messages: readonly Inbound[], more?: OwnedMore): Promise<readonly Kept[]>;
  /** The same. Default: it starts nothing. */
  trigger?(owner: string, event: TriggerEvent, more?: TriggeredWith): Promise<Triggered>;
  /** The same. Default: there is none. */
  readonly speech?: Speech;
  /** The same. Default: nobody knows. */
  readings?(): Readings;
  /** The same. Default: told to nobody. */
  readonly publish?: FeatureContext["publish"];
  /** The same. Default: there is no audit log. */
  readonly audit?: FeatureContext["audit"];
  /** The same. Default: none can be reached. */
  readonly agents?: FeatureContext["agents"];
  /** Surveys are asked again. Default: never. */
  readonly refresh?: () => void;
}

export function enabledFeatures(
  context: Pick<ServiceContext, "composition" | "home" | "log">,
  config: LoadedConfig,
  ports: FeaturePorts,
): EnabledFeature[] {
  const enabled = context.composition.features.filter((definition) => config.enabled(definition));
  return handedTo(context, config, enabled, ports);
}

/** What each of these is handed, whether the config turns it on or not. */
export function handedTo(
  { composition, home, log }: Pick<ServiceContext, "composition" | "home" | "log">,
  config: LoadedConfig,
  definitions: readonly FeatureDefinition[],
  ports: FeaturePorts,
): EnabledFeature[] {
  const { version, commit, profile, recipe } = composition;
  const build = Object.freeze({ version, commit, profile, recipe: Object.freeze(recipe) });
  const store = (): Store => ports.store();
  const allowPrivate = config.core["security.net"].allow_private;
  const traceparent = (): string | undefined => currentScope().traceparent;
  return definitions.map((definition) => {
    const section = config.configOf(definition);
    const owner = definition.sharesState ? featureIdOf(definition) : definition.id;
    return {
      definition,
      config: section,
      siblings: siblingsOf(definition, composition.features, config),
      homeFolder: home.root,
      child: childCommands(composition.catalogue.find(({ id }) => id === featureIdOf(definition))),
      fetch: createGuardedFetch({
        allowPrivate,
        exempt: [...ownUrls(section), ...ownService(section)],
        traceparent,
        log,
        clock: systemClock,
      }),
      resolve: createGuardedResolve({ allowPrivate, exempt: ownUrls(section) }),
      build,
      publicUrl: withoutSlash(config.core.gateway.public_url),
      ...(ports.speech && { speech: ports.speech }),
      ...(ports.readings && { readings: () => ports.readings!() }),
      ...(ports.publish && { publish: (event) => ports.publish!(event) }),
      ...(ports.audit && { audit: (kind, data) => ports.audit!(kind, data) }),
      ...(ports.agents && { agents: ports.agents }),
      ...(ports.refresh && { refresh: () => ports.refresh!() }),
      pairedClient: (stored) =>
        store()
          .devices.all()
          .find(({ clientId }) => clientId === stored)?.clientId,
      secrets: featureSecrets(owner, home, store),
      secretsOf: (clientId) => featureSecrets(ownerOfClient(owner, clientId), home, store),
      state: featureState(owner, store),
      receive: (messages, more) => ports.receive(channelIdOf(definition), messages, more && { ...more, owner }),
      ...(ports.trigger && { trigger: (event, more) => ports.trigger!(owner, event, more) }),
    };
  });
}

/** Paths that may be served without a bearer, by the part that may serve them: as the manifest of its feature lists them. */
export const openPathsOf = ({
  features,
  catalogue,
}: Pick<ServiceContext["composition"], "features" | "catalogue">): ReadonlyMap<string, readonly string[]> =>
  new Map(features.map((part) => [part.id, catalogue.find(({ id }) => id === featureIdOf(part))?.open ?? []]));

/** The other parts of the feature that this is one of. */
export const otherPartsOf = (
  definition: FeatureDefinition,
  features: readonly FeatureDefinition[],
): readonly FeatureDefinition[] =>
  features.filter((other) => other !== definition && featureIdOf(other) === featureIdOf(definition));

function siblingsOf(
  definition: FeatureDefinition,
  features: readonly FeatureDefinition[],
  config: LoadedConfig,
): NonNullable<EnabledFeature["siblings"]> {
  const on = otherPartsOf(definition, features).filter((other) => config.enabled(other));
  return Object.freeze(Object.fromEntries(on.map((other) => [other.section ?? other.id, config.configOf(other)])));
}

/**
 * A feature may reach the `api_url`, the `url`, the `homeserver` and the `relays` that its own section names, wherever they are; nothing else
 * that is private. What goes to a relay without TLS stays on this machine, or needs `security.net.allow_private`.
 */
function ownUrls(section: unknown): string[] {
  const { api_url: api, url, homeserver, relays } = (section ?? {}) as Record<string, unknown>;
  const isSafeRelay = (relay: unknown): boolean =>
    typeof relay === "string" &&
    /^(?:wss:\/\/|ws:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?(?:\/|$))/.test(relay);
  const own = [api, url, homeserver, ...(Array.isArray(relays) ? relays.filter(isSafeRelay) : [])];
  return own.filter((one) => typeof one === "string" && one !== "") as string[];
}

/** Requests of the backend computer_use go to its service; what it resolves, pages among it, has no such exemption. */
function ownService(section: unknown): string[] {
  const { backend, computer_use_endpoint: url } = (section ?? {}) as Record<string, unknown>;
  return backend === "computer_use" && typeof url === "string" && url !== "" ? [url] : [];
}

const withoutSlash = (url: string | undefined): string | undefined =>
  url === undefined ? undefined : trimEndOf(url, "/");

// What one feature keeps that is no secret: in the database, seen by nobody else.

/** `store` is asked for at each use: features are made before the database is open. */
function featureState(feature: string, store: () => Store): StateStore {
  return {
    get: async (name) => store().state.get(feature, named(name)),
    set: (name, value) => store().state.set(feature, named(name), value),
    delete: (name) => store().state.delete(feature, named(name)),
    list: async (prefix = "") => store().state.list(feature, prefix),
  };
}

/**
 * The encrypted store of one feature: sealed with the home's key, kept in the database, seen by nobody else. `store` is asked for at
 * each use: features are made before the database is open.
 */
export function featureSecrets(feature: string, home: Home, store: () => Store): SecretStore {
  return {
    async get(name) {
      const sealed = store().vault.get(feature, named(name));
      return sealed === undefined ? undefined : openKeyRing(home).open(sealed);
    },
    async set(name, value) {
      // Sealed inside the write: a key rotation is one, so a value can't be sealed with a key that goes before it is kept.
      await store().vault.set(feature, named(name), () => openKeyRing(home).seal(value));
    },
    delete: (name) => store().vault.delete(feature, named(name)),
    list: async (prefix = "") => store().vault.list(feature, prefix),
  };
}

/** Throws BAD_REQUEST. */
export function named(name: string): string {
  if (name.length >= 1 && name.length <= 200) return name;
  throw new SvcError("BAD_REQUEST", "The name of what a feature keeps has 1 to 200 characters.");
}

/** The channels of a config without a service around them: made and registered, never run. For commands and checks. */
interface OfflineChannels {
  readonly home: Home;
  readonly composition: Composition;
  readonly config: LoadedConfig;
}

/** Resolves with what `use` makes of them. Throws FEATURE_CONFLICT, and FEATURE_FAILED for a channel that can't be made. */
export async function withOfflineChannels<T>(
  { home, composition, config }: OfflineChannels,
  use: (registry: Registry) => T | Promise<T>,
): Promise<T> {
  const log = createLogger({ level: "error", json: true, write: () => {}, clock: systemClock });
  const channels = new Set(composition.catalogue.filter(({ kind }) => kind === "channel").map(({ id }) => id));
  const lifecycle = new Lifecycle({
    definitions: composition.features,
    enabled: enabledFeatures({ home, composition, log }, config, closedPorts("This command opens no store.")).filter(
      ({ definition }) => channels.has(featureIdOf(definition)),
    ),
    log,
    clock: systemClock,
    redact: log.redact,
  });
  try {
    await lifecycle.construct();
    return await use(await lifecycle.register(new AbortController().signal));
  } finally {
    await lifecycle.shutdown();
  }
}

/** For features that are made and registered, but never run. `reason`: the sentence of STORE_FAILED, for one that opens the store. */
export function closedPorts(reason: string): FeaturePorts {
  const closed = (): never => {
    throw new SvcError("STORE_FAILED", reason);
  };
  return { store: closed, receive: async () => closed() };
}

/** The paths that belong to features below `/api/`, in this build or not, and what to do where nobody serves them. */
export const featurePathsOf = (
  { catalogue, features }: Pick<Composition, "catalogue" | "features">,
  config: LoadedConfig,
): ReadonlyMap<string, FeaturePath> =>
  new Map(
    catalogue.flatMap((entry) => {
      const parts = features.filter((part) => featureIdOf(part) === entry.id);
      const isOn = parts.some((part) => config.enabled(part));
      const owner = { feature: entry.id, missing: isOn ? undefined : reasonOf(entry, parts.length > 0) };
      return entry.routes.map((path) => [path, owner] as const);
    }),
  );

function reasonOf({ id, build, planned, sections: [section] }: CatalogueEntry, isIncluded: boolean): string {
  const turnOn = section === undefined ? undefined : `set [${section}] enabled = true in the config`;
  if (isIncluded) return `the feature ${id} is off; ${turnOn ?? "turn it on in the config"}, then run: svc reload`;
  if (planned) return `this needs the feature ${id}, which is planned and not written yet`;
  const then = turnOn === undefined ? "" : `, then ${turnOn}`;
  return `the feature ${id} is not in this build; build it in with: ${build}${then}`;
}

/** How a feature starts the processes of its own that its manifest lists. */
export function childCommands(entry: CatalogueEntry | undefined): FeatureContext["child"] {
  return (name) => {
    if (!entry?.children.includes(name)) throw new TypeError(`the manifest lists no child named ${name}`);
    const { file, args } = selfCommand();
    return [file, ...args, `__${name}`];
  };
}
