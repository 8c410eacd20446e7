/** The features that a config turns on, each with what it is handed: its section, its way out, its stores, its way in. */
import {
  type FeatureContext,
  type FeatureDefinition,
  type Inbound,
  type Kept,
  type Readings,
  type ReceivedWith,
  type Speech,
  type StateStore,
  type TriggerEvent,
  type Triggered,
  type TriggeredWith,
  featureIdOf,
  trimEndOf,
} from "@svc/contract";
import { type EnabledFeature, channelIdOf, currentScope } from "@svc/runtime";
import type { LoadedConfig } from "@svc/config";
import { systemClock } from "@svc/kit/system-clock";
import { createGuardedFetch, createGuardedResolve } from "@svc/kit";
import { type Store, ownerOfClient } from "@svc/store";
import { childCommands } from "./child-commands.ts";
import type { ServiceContext } from "./context.ts";
import { featureSecrets, named } from "./feature-secrets.ts";

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
  doors: FeaturePorts,
): EnabledFeature[] {
  const enabled = context.composition.features.filter((definition) => config.enabled(definition));
  return handedTo(context, config, enabled, doors);
}

/** What each of these is handed, whether the config turns it on or not. */
export function handedTo(
  { composition, home, log }: Pick<ServiceContext, "composition" | "home" | "log">,
  config: LoadedConfig,
  definitions: readonly FeatureDefinition[],
  doors: FeaturePorts,
): EnabledFeature[] {
  const { version, commit, profile, recipe } = composition;
  const build = Object.freeze({ version, commit, profile, recipe: Object.freeze(recipe) });
  const store = (): Store => doors.store();
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
      ...(doors.speech && { speech: doors.speech }),
      ...(doors.readings && { readings: () => doors.readings!() }),
      ...(doors.publish && { publish: (event) => doors.publish!(event) }),
      ...(doors.audit && { audit: (kind, data) => doors.audit!(kind, data) }),
      ...(doors.agents && { agents: doors.agents }),
      ...(doors.refresh && { refresh: () => doors.refresh!() }),
      pairedClient: (kept) =>
        store()
          .devices.all()
          .find(({ clientId }) => clientId === kept)?.clientId,
      secrets: featureSecrets(owner, home, store),
      secretsOf: (clientId) => featureSecrets(ownerOfClient(owner, clientId), home, store),
      state: featureState(owner, store),
      receive: (messages, more) => doors.receive(channelIdOf(definition), messages, more && { ...more, owner }),
      ...(doors.trigger && { trigger: (event, more) => doors.trigger!(owner, event, more) }),
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
